import Testing

@testable import FlowBase

/// Digests of many messages at once are those of each message alone.
@Suite struct DigestTests {
  /// Bytes that look like chance, and are the same each time.
  private struct Bytes {
    var state: UInt64

    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state >> 33
    }

    /// A stretch of the same bytes, from somewhere in them.
    mutating func message(_ count: Int) -> [UInt8] {
      let start = Int(next() % 1000)
      return Array(Bytes.stock[start..<start + count])
    }

    static let stock: [UInt8] = {
      var bytes = Bytes(state: 1)
      return (0..<102_000).map { _ in UInt8(truncatingIfNeeded: bytes.next()) }
    }()

    mutating func length(_ bounds: Range<Int>) -> Int { bounds.lowerBound + Int(next() % UInt64(bounds.count)) }
  }

  private func update(_ streams: [DigestStream], _ messages: ArraySlice<[UInt8]>, _ form: Int32) {
    func nest(_ rest: ArraySlice<[UInt8]>, _ before: [UnsafeRawBufferPointer]) {
      guard let first = rest.first else { return unsafe DigestStream.update(streams, before, form: form) }
      unsafe first.withUnsafeBytes { bytes in unsafe nest(rest.dropFirst(), before + [bytes]) }
    }
    unsafe nest(messages, [])
  }

  /// The forms that this processor has, and the one without lanes.
  static let forms = Array(0...DigestStream.bestForm)

  @Test(arguments: forms, 1...20)
  func `Several streams go on side by side, whatever their lengths and however far each has come`(
    form: Int32, count: Int
  ) {
    var bytes = Bytes(state: UInt64(count))
    let streams = (0..<count).map { _ in DigestStream() }
    var whole = Array(repeating: [UInt8](), count: count)
    for round in 0..<6 {
      let messages = (0..<count).map { lane in
        // Some bring nothing, some less than a block, and some end where a block does.
        bytes.message(
          round == 2 ? lane % 3 * 64 : round == 4 && lane % 2 == 0 ? 0 : bytes.length(0..<(lane % 2 == 0 ? 70 : 2000)))
      }
      update(streams, messages[...], form)
      for lane in 0..<count { whole[lane] += messages[lane] }
    }
    for lane in 0..<count { #expect(streams[lane].finish() == Digest.sha256(of: whole[lane]), "lane \(lane)") }
  }

  @Test func `The length of a message counts beyond what 32 bits hold`() {
    // 520 MiB: its length in bits has 33 binary digits.
    let piece = [UInt8](repeating: 7, count: 8 << 20)
    let streams = (0..<3).map { _ in DigestStream() }
    for _ in 0..<65 {
      update(streams, Array(repeating: piece, count: 3)[...], DigestStream.bestForm)
    }
    // As `sha256sum` has it.
    let digest = "2f6d24459528205283b49ff37074e70d61a942bd5cc4ea529443093861b3fc35"
    for stream in streams { #expect(stream.finish().hex == digest) }
  }

  @Test func `Bytes that wait for those of others are all in the digest`() {
    var bytes = Bytes(state: 7)
    let lanes = DigestLanes.ofThreads(1)
    var open: [(digest: GatheredDigest, whole: [UInt8], keeps: Bool)] = []
    var ended = 0
    for step in 0..<1000 {
      if open.count < 40, step < 800 {
        open.append((GatheredDigest(lanes, keepsBytes: step % 2 == 0), [], step % 2 == 0))
      }
      let place = bytes.length(0..<open.count)
      let piece = bytes.message(bytes.length(0..<(step % 7 == 0 ? 100_000 : 20_000)))
      open[place].digest.update(piece)
      open[place].whole += piece
      switch bytes.next() % 16 {
      case 0:
        let (digest, whole, keeps) = open.remove(at: place)
        #expect(digest.finish() == Digest.sha256(of: whole))
        if keeps { #expect(digest.takeBytes() == whole) }
        ended += 1
      case 1:
        open[place].digest.restart()
        open[place].whole = []
      case 2:
        // What settles goes on in the stream itself.
        let more = bytes.message(bytes.length(0..<300))
        if open[place].keeps { open[place].digest.update(more) } else { open[place].digest.settled().update(more) }
        open[place].whole += more
      case 3: open.remove(at: place)
      case 4 where open[place].keeps:
        // From then on it keeps none, and goes on.
        #expect(open[place].digest.takeBytes() == open[place].whole)
        open[place].keeps = false
      default: break
      }
      if open.isEmpty { break }
    }
    for (digest, whole, _) in open { #expect(digest.finish() == Digest.sha256(of: whole)) }
    #expect(ended > 20)
    open = []
    #expect(lanes[0].count == 0)
  }

  @Test func `Threads that share lanes do not come into each other's way`() async {
    let lanes = DigestLanes.ofThreads(2)
    await withTaskGroup(of: Bool.self) { group in
      for task in 0..<12 {
        group.addTask {
          var bytes = Bytes(state: UInt64(100 + task))
          let digest = GatheredDigest(lanes)
          var whole: [UInt8] = []
          for _ in 0..<20 {
            let piece = bytes.message(bytes.length(16_000..<30_000))
            digest.update(piece)
            whole += piece
            await Task.yield()
          }
          return digest.finish() == Digest.sha256(of: whole)
        }
      }
      for await isRight in group { #expect(isRight) }
    }
    #expect(lanes.allSatisfy { $0.count == 0 })
  }
}
