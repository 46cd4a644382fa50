/// First in, first out, without moving what is behind; what was taken is let go of.
public struct Fifo<Element> {
  private var elements: [Element?] = []
  private var head = 0

  /// An empty queue.
  public init() {}

  /// Whether nothing waits.
  public var isEmpty: Bool { head == elements.count }
  /// How many wait.
  public var count: Int { elements.count - head }
  /// What comes next.
  public var first: Element? { isEmpty ? nil : elements[head] }

  /// Puts an element behind the others.
  public mutating func append(_ element: Element) { elements.append(element) }

  /// Takes what comes next.
  public mutating func popFirst() -> Element? {
    guard !isEmpty else { return nil }
    let element = elements[head].take()
    head += 1
    if head == elements.count {
      elements.removeAll(keepingCapacity: true)
      head = 0
    } else if head >= 256 && head * 2 > elements.count {
      elements.removeFirst(head)
      head = 0
    }
    return element
  }
}

extension Fifo: Sendable where Element: Sendable {}
