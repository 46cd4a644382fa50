import FlowBase
import FlowTesting
import FlowTransfer
import Testing

/// Bodies that come packed, whole and cut short.
struct `Packed bodies` {
  /// What the packed streams below unpack to.
  static let text = Array((0..<60).map { "line \($0) of the packed text, \($0 * $0 * 7919 % 1000)\n" }.joined().utf8)

  static let packed: [(coding: String, bytes: [UInt8])] = [
    ("gzip", LoopbackServer.Response.ok(text).gzipped().bytes), ("br", Hex.decode(brotli) ?? []),
    ("zstd", Hex.decode(zstandard) ?? []),
    // Packed twice: with Brotli first, and that with gzip.
    ("br, gzip", LoopbackServer.Response.ok(Hex.decode(brotli) ?? []).gzipped().bytes),
  ]

  @Test(arguments: packed.indices)
  func `are unpacked, and cut off anywhere they are truncated`(number: Int) async throws {
    let (coding, bytes) = Self.packed[number]
    let server = try LoopbackServer { request in
      .ok(Array(bytes.prefix(Int(request.path.dropFirst()) ?? 0))).header("Content-Encoding", coding)
    }
    let whole = await perform("\(server.url)/\(bytes.count)")
    #expect(whole.bytes == Self.text, "\(coding): \(whole.fault?.message ?? "")")
    #expect(whole.result?.contentEncoding == coding && whole.result?.wireBytes == bytes.count)
    for count in [1, 2, 10, bytes.count / 2, bytes.count - 5, bytes.count - 1] {
      let cut = await perform("\(server.url)/\(count)")
      #expect(cut.code == "body.truncated" && cut.fault?.kind == .transient, "\(coding), \(count) bytes")
    }
    #expect(await perform("\(server.url)/\(bytes.count)") { $0.limits.maximumBytes = 1000 }.code == "body.too_large")
  }

  @Test func `with bytes behind their end, damaged, or in no known coding are refused`() async throws {
    let server = try LoopbackServer { request in
      switch request.path {
      case "/behind/br": .ok((Hex.decode(Self.brotli) ?? []) + [1]).header("Content-Encoding", "br")
      case "/damaged/zstd":
        .ok((Hex.decode(Self.zstandard) ?? []).map { $0 == 0x55 ? 0x56 : $0 } + [9]).header("Content-Encoding", "zstd")
      case "/twice": .ok("x").header("Content-Encoding", "gzip").header("Content-Encoding", "compress")
      case "/many": .ok("x").header("Content-Encoding", "gzip, gzip, gzip, gzip, gzip")
      default: .ok("").header("Content-Encoding", "gzip")
      }
    }
    #expect(await perform(server.url + "/behind/br").code == "body.truncated")
    #expect(await perform(server.url + "/damaged/zstd").code == "body.truncated")
    #expect(await perform(server.url + "/twice").code == "encoding.unsupported")
    #expect(await perform(server.url + "/many").code == "encoding.unsupported")
    #expect(await perform(server.url + "/empty").fault == nil)
    #expect(await perform(server.url + "/twice") { $0.method = .head }.fault == nil)
  }

  @Test func `on the way alone, which nobody asked for, are refused`() async throws {
    let packed = LoopbackServer.Response.ok(Self.text).gzipped().bytes
    let server = try LoopbackServer { request in
      let whole = LoopbackServer.Response.ok(request.path == "/cut" ? Array(packed.dropLast(9)) : packed)
      return whole.header("Transfer-Encoding", "gzip").chunked(of: 50)
    }
    for path in ["/whole", "/cut"] {
      let outcome = await perform(server.url + path)
      #expect(outcome.code == "encoding.unsupported" && outcome.bytes == [], "\(path)")
    }
    #expect(server.requests.allSatisfy { $0.header("TE") == nil })
  }

  private static let brotli =
    "136c0700c457d7cf9f518b3fb1f75b5be73941425008e05f9b4cb8baef4eba7e2b1692ddd47a982108c611842bee0dd22d39"
    + "210895b19f38ab9afd7ededf67ed654d8f849fcf8befe7ffbbd7be3ae4f80ca6e61ca74eaec142ee51db79c654f273f60079"
    + "9dfa3ae83831f77c2e2b7380657bcdae0d6dec004812802400482080a20074f10840574600520540aa188c63502c83aa3128"
    + "c4a064832187c7180dd6cca1c1720e0daad7008880a1c21e0031b71028aa8e0011f308ddd111442a7b9746146e0010f30201"
    + "45d50504266cb8da008029f80770136558e83bb63e60ea3827703b7cb713d3b6819b022311234b6334a8990308e51c4058fd"
    + "e3f80723352f08d50f8822207a6b2e"

  private static let zstandard =
    "28b52ffd646d060d0800c28b1d189029e920147e56a84f7b66769aa4dc2925b901f75d2b700186f376b95cb749996aba47db"
    + "734b4adf2aa75b592d299dc5114d96243d8e54f38e3f1d4e39de9c8666ca9866dabd32a3cd368edc47beb32fab225531dd25"
    + "d4d1b05099ef3390712816886208100601000a832028c640c220834028380875a861a0dafddf703352b00d1124149112e12f"
    + "f1f50c3002fc2b6c4c67dc7249b49314faae6d391b44d4dc25a0a17849ff2f0ab83f03d8cf1aa83b1bd0c74e78881a41c490"
    + "107726023456986c1ffd5cb7bbd6f6d7cdd7790c7912ea0631a0f7a7f91cdb6399e7f98e369dcb2587c2f936d14731bff65f"
    + "04bc0a548c6b712d16b502ab7a0b00ba0a3f61faf8"
}
