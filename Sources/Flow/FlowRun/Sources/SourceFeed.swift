import FlowBase
import FlowEvents
import FlowExpressions
import FlowParts
import FlowPlan
import FlowStore

/// Reads one source as fast as it is asked to, and turns what comes into items.
struct SourceFeed: Sendable {
  /// What a feed tells the run.
  enum Letter: Sendable {
    /// The source is open; the number of its items, where that is known.
    case opened(total: Int?)
    /// Some items, in the source's order.
    case items([PreparedItem])
    /// No more items.
    case ended
    /// The source cannot go on.
    case failed(Fault)
    /// The manifest is to blame.
    case refused(Diagnostic)
  }

  let source: PlannedSource
  let folder: String
  /// `sample` of the manifest as a whole, where it stands for each source's share.
  let share: Sample?
  /// What the run does for sources that ask hosts; nil where nobody is to be asked.
  var services: (any RunServices)?
  /// Where an earlier run was, if this one goes on from there.
  var resumption: Resumption?
  /// Looks up what earlier runs have left; nil where nobody wants to know yet.
  var past: PastReaders?
  /// The source's place in the plan.
  var number = 0
  let tell: @Sendable (Payload) -> Void
  let post: @Sendable (Letter) -> Void

  /// Where an earlier run was cut off.
  struct Resumption: Sendable {
    /// From where the source is asked.
    var cursor: Value
    /// How many items lie before that, all of them done.
    var count: Int
    /// Some of those items, behind a place.
    var items: @Sendable (_ after: Int, _ limit: Int) throws -> [Item]
  }

  /// Serves the demands until the source ends, the demands end, or the task is cancelled.
  func serve(_ demands: AsyncStream<Int>) async {
    do {
      var context = SourceContext(
        id: source.id, config: source.config, folder: folder, services: services, tell: tell)
      context.cursor = resumption?.cursor
      var reader = try await source.part.make().open(in: context)
      post(.opened(total: knownTotal(reader.total)))
      if let chosen = try await sampled(&reader) {
        var prepared = chosen[...]
        for await count in demands {
          guard !prepared.isEmpty else { break }
          post(.items(Array(prepared.prefix(count))))
          prepared = prepared.dropFirst(count)
          if prepared.isEmpty { break }
        }
      } else {
        try await stream(&reader, demands)
      }
      post(.ended)
    } catch let diagnostic as Diagnostic {
      post(.refused(diagnostic))
    } catch {
      post(.failed(Fault(error)))
    }
  }

  private func stream(_ reader: inout any SourceReader, _ demands: AsyncStream<Int>) async throws {
    var left = source.take ?? .max
    var place = PastPlace(index: 1)
    let maker = ItemMaker(source: source.id)
    var replayed = 0
    for await count in demands {
      var wanted = min(count, left)
      while let resumption, replayed < resumption.count, wanted > 0, !Task.isCancelled {
        let items = try resumption.items(replayed, min(wanted, 256))
        guard let last = items.last else { throw Fault.internal("resume", "items of an earlier run are gone") }
        replayed = last.index
        wanted -= items.count
        left -= items.count
        post(.items(items.map { PreparedItem(item: $0, isDone: true) }))
      }
      while wanted > 0, !Task.isCancelled {
        let batch = try await reader.next(upTo: min(wanted, 256))
        if batch.isEmpty { return }
        var kept: [PreparedItem] = []
        kept.reserveCapacity(batch.count)
        for entry in batch {
          let prepared = maker.prepare(entry)
          prepared.cursor = reader.cursor
          if keeps(prepared) { kept.append(prepared) }
        }
        wanted -= kept.count
        left -= kept.count
        if let past { await past.look(at: kept, source: number, place: &place) }
        if !kept.isEmpty { post(.items(kept)) }
      }
      if left == 0 || Task.isCancelled { return }
    }
  }

  /// Whether `where` and a share by percentage let an item through.
  ///
  /// A condition that cannot be computed for a row is that row's fault, and no reason to end the source.
  private func keeps(_ prepared: PreparedItem) -> Bool {
    if case .share(let share)? = source.sample, ItemMaker.position(of: prepared.item) >= share { return false }
    if case .share(let share)? = self.share, ItemMaker.position(of: prepared.item) >= share { return false }
    guard let condition = source.condition, prepared.fault == nil else { return true }
    do { return try condition.isTrue(in: Leg(item: prepared.item)) } catch {
      prepared.fault = error
      return true
    }
  }

  /// The items with the smallest key hashes, in the source's order; nil where no sample by number is asked for.
  private func sampled(_ reader: inout any SourceReader) async throws -> [PreparedItem]? {
    var limit: Int?
    if case .count(let count)? = source.sample { limit = count }
    if case .count(let count)? = share { limit = min(limit ?? .max, count) }
    guard let limit else { return nil }
    let maker = ItemMaker(source: source.id)
    var chosen: [(position: Double, order: Int, item: PreparedItem)] = []
    var order = 0
    while !Task.isCancelled {
      let batch = try await reader.next(upTo: 256)
      if batch.isEmpty { break }
      for entry in batch {
        let prepared = maker.prepare(entry)
        guard keeps(prepared) else { continue }
        order += 1
        chosen.append((ItemMaker.position(of: prepared.item), order, prepared))
      }
      if (chosen.count - 1024) / 2 > limit {
        chosen.sort { ($0.position, $0.order) < ($1.position, $1.order) }
        chosen.removeLast(chosen.count - limit)
      }
    }
    chosen.sort { ($0.position, $0.order) < ($1.position, $1.order) }
    chosen = Array(chosen.prefix(limit)).sorted { $0.order < $1.order }
    return chosen.prefix(source.take ?? .max).map(\.item)
  }

  /// The number of items that the run will see, where nothing stands between it and the source's own count.
  private func knownTotal(_ total: Int?) -> Int? {
    guard source.condition == nil, source.sample == nil, share == nil, resumption == nil, let total else { return nil }
    return min(total, source.take ?? .max)
  }
}
