internal import FlowBase

/// How much happened when: a bounded number of equal spans, which grow with the run.
struct Timeline {
  private(set) var values: [Double] = []
  /// How long each span is.
  private(set) var width = Interval.milliseconds(100)

  private static let limit = 120

  /// Adds an amount at a time since the start.
  mutating func add(_ amount: Double, at time: Interval) {
    var place = time.nanoseconds / max(1, width.nanoseconds)
    while place >= Timeline.limit {
      var halved: [Double] = []
      for start in stride(from: 0, to: values.count, by: 2) {
        halved.append(values[start...].prefix(2).reduce(0, +))
      }
      values = halved
      width = width + width
      place = time.nanoseconds / width.nanoseconds
    }
    while values.count <= place { values.append(0) }
    values[place] += amount
  }

  /// Adds an amount that came between two times, spread evenly.
  mutating func add(_ amount: Double, from start: Interval, to end: Interval) {
    let steps = max(1, min(Timeline.limit, (end.nanoseconds - start.nanoseconds) / max(1, width.nanoseconds)))
    for step in 1...steps {
      let offset = (end.nanoseconds - start.nanoseconds) / steps * step
      add(amount / Double(steps), at: Interval(nanoseconds: max(0, start.nanoseconds + offset - 1)))
    }
  }

  /// The amounts a second.
  var rates: [Double] { values.map { $0 / width.seconds } }
}

/// A sample that is spread evenly over as many elements as there will be.
struct EvenSample<Element> {
  private(set) var elements: [Element] = []
  /// How many were offered.
  private(set) var count = 0
  private var step = 1
  private let limit: Int

  init(limit: Int) { self.limit = max(2, limit) }

  mutating func offer(_ element: @autoclosure () -> Element) {
    defer { count += 1 }
    guard count % step == 0 else { return }
    if elements.count == limit {
      elements = stride(from: 0, to: elements.count, by: 2).map { elements[$0] }
      step *= 2
      guard count % step == 0 else { return }
    }
    elements.append(element())
  }
}
