import FlowBase
import FlowBuiltins
import FlowParts
import FlowTesting
import Testing

@Suite struct DedupeTests {
  /// One `dedupe` over one leg after another, each looked at and then decided on.
  private struct Bench {
    let services: ScratchServices
    let config: Config
    let look: any Stage
    let stage = Dedupe.part.make()

    init(_ config: [String: Value] = [:]) throws {
      services = try ScratchServices()
      self.config = Config(config.map { Config.Entry($0.key, .value($0.value)) })
      let part = try #require(Dedupe.part.spec.look)
      look = part().make()
    }

    private func context(_ stage: String) -> StageContext {
      StageContext(stage: stage, config: config, attempt: 1, services: services)
    }

    func look(at key: String, _ bytes: [UInt8], index: Int = 1) async throws -> Leg {
      let item = Item(source: "photos", key: key, index: index, url: "https://example.com/\(key)")
      var leg = Leg(item: item, content: .bytes(bytes))
      leg.fields = try await look.run(leg, in: context("dedupe.look")).fields
      return leg
    }

    /// Why the leg is dropped; nil where it stays.
    func judge(_ leg: Leg) async throws -> String? {
      if case .drop(let reason) = try await stage.run(leg, in: context("dedupe")).verdict { reason } else { nil }
    }

    func reason(_ key: String, _ bytes: [UInt8]) async throws -> String? { try await judge(look(at: key, bytes)) }
  }

  private func small(_ photo: [UInt8]) async throws -> [UInt8] {
    let services = try ScratchServices()
    let context = StageContext(
      stage: "small", config: Config([.init("width", .value(200)), .init("format", .value("jpeg"))]), attempt: 1,
      services: services)
    let made = try await ResizePicture.part.make().run(
      Leg(item: item("https://example.com/s"), content: .bytes(photo)), in: context)
    return try #require(made.heldBytes)
  }

  @Test func `equal bytes come by once, and what is dropped names what it equals`() async throws {
    let bench = try Bench()
    #expect(try await bench.reason("a", [1, 2, 3]) == nil)
    #expect(try await bench.reason("b", [1, 2, 3]) == "the same bytes as photos/a")
    #expect(try await bench.reason("c", [1, 2, 4]) == nil)
    // Another try of the first is not its own twin.
    #expect(try await bench.reason("a", [1, 2, 3]) == nil)
  }

  @Test func `pictures that look alike come by once, others all`() async throws {
    let bench = try Bench(["by": "phash"])
    let photo = Painter.photo("alps")
    let first = try await bench.look(at: "a", photo)
    #expect(first.fields["phash"]?.asString?.count == 16)
    #expect(try await bench.judge(first) == nil)
    #expect(try await bench.reason("b", small(photo))?.hasPrefix("looks like photos/a") == true)
    for name in ["harbour", "canyon", "reef", "dusk"] {
      #expect(try await bench.reason(name, Painter.photo(name)) == nil, "\(name)")
    }
  }

  @Test func `the largest of those that look alike stays, wherever it stands in the list`() async throws {
    for order in [["large", "little", "other"], ["little", "other", "large"], ["other", "little", "large"]] {
      let bench = try Bench(["by": "phash", "keep": "largest"])
      let photo = Painter.photo("alps")
      let pictures = ["large": photo, "little": try await small(photo), "other": Painter.photo("reef")]
      var legs: [Leg] = []
      for (place, name) in order.enumerated() {
        legs.append(try await bench.look(at: name, pictures[name] ?? [], index: place + 1))
      }
      for leg in legs {
        let reason = try await bench.judge(leg)
        if leg.item.key == "little" {
          #expect(reason?.hasPrefix("looks like photos/large") == true, "\(order)")
        } else {
          #expect(reason == nil, "\(order)")
        }
      }
    }
  }

  @Test
  func `where the largest is kept, nobody passes before all are known; else each passes in the order of the list`()
    throws
  {
    func order(_ config: [String: Value]) -> LegOrder {
      Dedupe.part.spec.order(Config(config.map { Config.Entry($0.key, .value($0.value)) }))
    }
    #expect(order(["by": "phash", "keep": "largest"]) == .complete)
    #expect(order(["by": "phash", "keep": "first"]) == .listed)
    // Equal bytes are equally large.
    #expect(order(["by": "sha256", "keep": "largest"]) == .listed)
  }
}
