import FlowBase
import FlowPlan

/// A sample of so many items over all sources: it can be drawn only when every source has been read.
///
/// Each source hands in no more than the whole sample's size, so it stays small.
struct SampleOfAll {
  private let limit: Int?
  private var items: [(position: Double, source: Int, order: Int, item: PreparedItem)] = []
  private var isDrawn = false

  /// A sample; nothing is held back unless it is one by number.
  init(_ sample: Sample?) {
    if case .count(let count)? = sample { limit = count } else { limit = nil }
  }

  /// Whether items go straight on.
  var isComplete: Bool { limit == nil || isDrawn }

  mutating func add(_ batch: [PreparedItem], from source: Int) {
    for item in batch { items.append((ItemMaker.position(of: item.item), source, items.count, item)) }
  }

  /// The items with the smallest positions, in the order of the sources.
  mutating func draw() -> [(source: Int, item: PreparedItem)] {
    isDrawn = true
    let drawn = items.sorted { ($0.position, $0.order) < ($1.position, $1.order) }.prefix(limit ?? .max)
    items = []
    return drawn.sorted { ($0.source, $0.order) < ($1.source, $1.order) }.map { ($0.source, $0.item) }
  }
}
