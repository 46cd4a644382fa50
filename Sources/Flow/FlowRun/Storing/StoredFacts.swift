import FlowBase
import FlowEvents
import FlowParts
import FlowStore

/// The facts of an item's end as the journal has them, taken apart.
struct StoredFacts: Sendable, Hashable {
  /// That a leg of the item belongs to a group of a stage that gathers.
  struct Group: Sendable, Hashable {
    var stage: String
    /// The journal's number of the node.
    var node: Int
    var group: String
  }

  var outputs: [Payload.Output] = []
  var reason: String?
  var finalURL: String?
  /// The stages that it went through.
  var stages: [String] = []
  /// The keys of the items that its stages have made of it.
  var made: [String] = []
  var groups: [Group] = []
  /// The items in whose favour legs of it were dropped.
  var standIns: [StandIn] = []
  /// For which stages that gather it was written down; empty where there were none.
  var gathering = ""

  /// No facts.
  init() {}

  /// What fields say; what is not understood is left out.
  init(_ facts: Fields) {
    if facts.isEmpty { return }
    outputs = EndCodec.outputs(facts)
    reason = facts["reason"]?.asString
    finalURL = facts["final_url"]?.asString
    stages = (facts["stages"]?.asList ?? []).map(\.text)
    made = facts["made"]?.asList?.map(\.text) ?? []
    groups = (facts["groups"]?.asList ?? []).compactMap { entry in
      guard let parts = entry.asList, parts.count == 3, let stage = parts[0].asString, let node = parts[1].asInt,
        let group = parts[2].asString
      else { return nil }
      return Group(stage: stage, node: node, group: group)
    }
    standIns = EndCodec.decodeStandIns(facts[EndCodec.standIns])
    gathering = facts["gathering"]?.asString ?? ""
  }

  /// What the journal says of an item; a fault `state.damaged` where that is no JSON object.
  init(_ stored: StoredFields) throws(Fault) {
    self = if let plain = StoredFacts(plain: stored.json) { plain } else { StoredFacts(try stored.fields()) }
  }

  /// What the journal's JSON says, where it is of the form that nearly all of it has; nil where it has to be read in
  /// full.
  init?(plain json: [UInt8]) {
    if json.isEmpty { return }
    var scanner = FactsScanner(json)
    guard scanner.facts(into: &self), scanner.isAtEnd else { return nil }
  }

  /// The end of an item of which an earlier run has done everything.
  func cachedEnd(_ status: FlowEvents.ItemStatus) -> Payload.ItemEnd {
    var end = Payload.ItemEnd(
      status: status, isCached: true, attempts: 0, ratio: status == .ok ? 1 : nil, outputs: outputs, reason: reason,
      stages: stages.map { Payload.StageTime(stage: $0, elapsed: .zero, isCached: true) })
    end.finalURL = finalURL
    return end
  }
}

/// Reads the facts of an end as `EndCodec` writes them of an item without legs, in one pass and without values between.
///
/// Whatever looks otherwise (an escape, a letter beyond ASCII, a member that is none of these, another order) ends it.
private struct FactsScanner {
  private let bytes: [UInt8]
  private var place = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var isAtEnd: Bool { place == bytes.count }

  private static let opening = Array("{".utf8)
  private static let closing = Array("}".utf8)
  private static let quote = UInt8(ascii: "\"")
  private static let comma = UInt8(ascii: ",")
  private static let outputs = Array("\"outputs\":[".utf8)
  private static let reason = Array("\"reason\":".utf8)
  private static let final = Array("\"final_url\":".utf8)
  private static let stages = Array("\"stages\":[".utf8)
  private static let path = Array("{\"path\":".utf8)
  private static let bytesBehindLeg = Array(",\"leg\":{},\"bytes\":".utf8)
  private static let digest = Array(",\"sha256\":".utf8)
  private static let media = Array(",\"media\":".utf8)
  private static let width = Array(",\"width\":".utf8)
  private static let height = Array(",\"height\":".utf8)
  private static let null = Array("null".utf8)

  mutating func facts(into facts: inout StoredFacts) -> Bool {
    guard take(Self.opening) else { return false }
    repeat {
      if take(Self.outputs) {
        guard list({ scanner in scanner.output().map { facts.outputs.append($0) } != nil }) else { return false }
      } else if take(Self.stages) {
        guard list({ scanner in scanner.text().map { facts.stages.append($0) } != nil }) else { return false }
      } else if take(Self.reason), let reason = text() {
        facts.reason = reason
      } else if take(Self.final), let final = text() {
        facts.finalURL = final
      } else {
        return false
      }
    } while take(Self.comma)
    return take(Self.closing)
  }

  /// Elements up to the bracket that closes the list, of which there is at least one.
  private mutating func list(_ element: (inout FactsScanner) -> Bool) -> Bool {
    repeat { if !element(&self) { return false } } while take(Self.comma)
    return take(UInt8(ascii: "]"))
  }

  private mutating func output() -> Payload.Output? {
    guard take(Self.path), let path = text(), take(Self.bytesBehindLeg), let count = number(), take(Self.digest),
      let digest = text(), take(Self.media)
    else { return nil }
    var output = Payload.Output(path: path, bytes: count, sha256: digest)
    if !take(Self.null) {
      guard let media = text() else { return nil }
      output.media = media
    }
    guard take(Self.width) else { return nil }
    if !take(Self.null) {
      guard let width = number() else { return nil }
      output.width = width
    }
    guard take(Self.height) else { return nil }
    if !take(Self.null) {
      guard let height = number() else { return nil }
      output.height = height
    }
    return take(Self.closing) ? output : nil
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard place < bytes.count, bytes[place] == byte else { return false }
    place += 1
    return true
  }

  private mutating func take(_ word: [UInt8]) -> Bool {
    guard bytes.count - place >= word.count else { return false }
    for offset in word.indices where bytes[place + offset] != word[offset] { return false }
    place += word.count
    return true
  }

  private mutating func text() -> String? {
    guard take(Self.quote) else { return nil }
    let start = place
    while place < bytes.count {
      let byte = bytes[place]
      if byte == Self.quote {
        place += 1
        return String(decoding: bytes[start..<(place - 1)], as: UTF8.self)
      }
      guard byte >= 0x20, byte < 0x80, byte != UInt8(ascii: "\\") else { return nil }
      place += 1
    }
    return nil
  }

  /// A whole number from 0 that is written as usual.
  private mutating func number() -> Int? {
    let start = place
    var number = 0
    while place < bytes.count, (48...57).contains(bytes[place]), place - start < 18 {
      number = number * 10 + Int(bytes[place] - 48)
      place += 1
    }
    guard place > start, place == start + 1 || bytes[start] != 48 else { return nil }
    return number
  }
}
