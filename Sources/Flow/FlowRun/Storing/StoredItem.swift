public import FlowBase
public import FlowEvents
import FlowParts

/// What an earlier run, or this one, has written down of an item.
///
/// It goes from a source's thread to the loop and on with the item, and is copied nowhere.
final class StoredItem: Sendable {
  let id: Int
  /// Its place in its source then.
  let index: Int
  /// The number of the run that saw it last.
  let run: Int
  let status: ItemStatus
  /// The digest of all that its result depends on, that of what the source said of it in front.
  let fingerprint: [UInt8]
  /// What is needed to tell its end again.
  let facts: StoredFacts
  /// Why it failed.
  let fault: Fault?

  init(
    id: Int, index: Int, run: Int, status: ItemStatus, fingerprint: [UInt8], facts: StoredFacts, fault: Fault?
  ) {
    self.id = id
    self.index = index
    self.run = run
    self.status = status
    self.fingerprint = fingerprint
    self.facts = facts
    self.fault = fault
  }

  /// The digest of what the source said of it.
  var input: [UInt8] { Array(fingerprint.prefix(16)) }

  /// The keys of the items that its stages have made of it.
  var made: [String] { facts.made }

  /// For which stages that gather it was written down; empty where there were none.
  var gathering: String { facts.gathering }
}

/// What the journal is told of an item that has ended.
struct ItemRecordDraft: Sendable {
  /// What a node made, for stages that gather and for later runs.
  struct Result: Sendable {
    var node: Int
    var result: NodeResult
    var key: ResultKey?
  }
  /// That a leg belongs to a group.
  struct Membership: Sendable {
    var barrier: Int
    var node: Int
    var group: String
  }

  var ticket: Int
  var id: Int
  var item: Item
  var source: Int
  var status: ItemStatus
  var input: [UInt8]
  var fingerprint: [UInt8]
  var fault: Fault?
  /// Whether the item has not ended yet.
  var isUnderWay = false
  var end: Payload.ItemEnd?
  /// The keys of the items that were made of it.
  var made: [String] = []
  var results: [Result] = []
  /// The memberships that are to be written.
  var memberships: [Membership] = []
  /// All memberships, for later runs that find the item done.
  var groups: [Membership] = []
}

/// What the store answers.
enum StoreReply: Sendable {
  /// All that was posted before is safe.
  case flushed
  /// An item's end is safe, or could not be written.
  case itemEnded(ticket: Int, Fault?)
  /// The ends of the items of a lot are safe, or could not be written together.
  case lotEnded(Int, Fault?)
  /// Something else could not be written.
  case runFault(Fault)
}

/// The facts of an item's end, as the journal keeps them.
public enum EndCodec {
  static func encode(_ item: Item, _ end: Payload.ItemEnd?, gathering: String) -> Fields {
    var facts: Fields = [:]
    if !gathering.isEmpty {
      facts["item"] = ItemCodec.encode(item)
      facts["gathering"] = .string(gathering)
    }
    guard let end else { return facts }
    if !end.outputs.isEmpty {
      facts["outputs"] = .list(
        end.outputs.map { output in
          .map([
            "path": .string(output.path), "leg": .map(output.leg), "bytes": .int(output.bytes),
            "sha256": .string(output.sha256), "media": output.media.map(Value.string) ?? .null,
            "width": output.width.map(Value.int) ?? .null, "height": output.height.map(Value.int) ?? .null,
          ])
        })
    }
    if let reason = end.reason { facts["reason"] = .string(reason) }
    if let final = end.finalURL { facts["final_url"] = .string(final) }
    if !end.stages.isEmpty { facts["stages"] = .list(end.stages.map { .string($0.stage) }) }
    return facts
  }

  /// The end of an item as it was told, without what its stages took.
  public static func end(_ status: ItemStatus, _ facts: Fields) -> Payload.ItemEnd {
    var end = Payload.ItemEnd(status: status, ratio: status == .ok ? 1 : nil)
    end.reason = facts["reason"]?.asString
    end.finalURL = facts["final_url"]?.asString
    end.outputs = outputs(facts)
    return end
  }

  /// The files of an end.
  static func outputs(_ facts: Fields) -> [Payload.Output] {
    (facts["outputs"]?.asList ?? []).compactMap { value in
      guard let map = value.asMap, let path = map["path"]?.asString else { return nil }
      return Payload.Output(
        path: path, leg: map["leg"]?.asMap ?? [:], media: map["media"]?.asString, bytes: map["bytes"]?.asInt ?? 0,
        sha256: map["sha256"]?.asString ?? "", width: map["width"]?.asInt, height: map["height"]?.asInt)
    }
  }
}
