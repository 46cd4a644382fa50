/// A first-in first-out queue in one growing ring.
struct Ring<Element: Sendable>: Sendable {
  /// As many places as a power of two; empty until the first element gives the places something to hold.
  private var elements: [Element] = []
  private var head = 0
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }
  /// The oldest element.
  var first: Element? { count == 0 ? nil : elements[head] }

  mutating func append(_ element: Element) {
    if count == elements.count { grow(with: element) }
    elements[(head + count) & (elements.count - 1)] = element
    count += 1
  }

  /// Takes the oldest element; its place keeps the value until it is used again, which is why elements are small.
  mutating func popFirst() -> Element? {
    guard count > 0 else { return nil }
    let element = elements[head]
    head = (head + 1) & (elements.count - 1)
    count -= 1
    return element
  }

  private mutating func grow(with filler: Element) {
    var larger: [Element] = []
    larger.reserveCapacity(max(16, elements.count * 2))
    for offset in 0..<count { larger.append(elements[(head + offset) & (elements.count - 1)]) }
    larger.append(contentsOf: repeatElement(filler, count: max(16, elements.count * 2) - count))
    elements = larger
    head = 0
  }
}

/// Things that are due at an instant, the earliest first; things of one instant come in the order of their arrival.
public struct Agenda<Element> {
  private var heap: [(due: Int, order: Int, element: Element)] = []
  private var arrivals = 0

  /// An empty agenda.
  public init() {}

  /// Whether nothing is due, ever.
  public var isEmpty: Bool { heap.isEmpty }
  /// When the first thing is due, in nanoseconds.
  public var earliest: Int? { heap.first?.due }

  /// Notes something down.
  public mutating func add(_ element: Element, due: Int) {
    arrivals += 1
    heap.append((due, arrivals, element))
    var place = heap.count - 1
    while place > 0, comes(place, before: (place - 1) / 2) {
      heap.swapAt(place, (place - 1) / 2)
      place = (place - 1) / 2
    }
  }

  /// The first thing that is due by now, taken off the agenda.
  public mutating func popDue(by now: Int) -> Element? {
    guard let first = heap.first, first.due <= now else { return nil }
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    var place = 0
    while true {
      var smallest = place
      for child in [2 * place + 1, 2 * place + 2] where child < heap.count && comes(child, before: smallest) {
        smallest = child
      }
      if smallest == place { return first.element }
      heap.swapAt(place, smallest)
      place = smallest
    }
  }

  private func comes(_ left: Int, before right: Int) -> Bool {
    (heap[left].due, heap[left].order) < (heap[right].due, heap[right].order)
  }
}

extension Agenda: Sendable where Element: Sendable {}
