internal import FlowBase

/// A row of bars over the time of the run, as SVG.
struct ReportChart {
  var label: String
  var values: [Double]
  /// How long each bar stands for.
  var width: Interval
  var words: (Double) -> String

  private static let size = (width: 600.0, height: 120.0)

  /// The picture; nil where there is nothing to see.
  var svg: String? {
    guard let top = values.max(), top > 0 else { return nil }
    let (full, height) = ReportChart.size
    let step = full / Double(max(values.count, 12))
    let bars = values.enumerated().compactMap { place, value -> String? in
      guard value > 0 else { return nil }
      let tall = max(1, value / top * height)
      let from = Interval(nanoseconds: width.nanoseconds * place)
      return "<rect x=\"\(text(Double(place) * step))\" y=\"\(text(height - tall))\" "
        + "width=\"\(text(max(0.5, step - min(1.5, step / 4))))\" height=\"\(text(tall))\" rx=\"1\">"
        + "<title>\(words(value)) at \(from.words)</title></rect>"
    }
    let end = Interval(nanoseconds: width.nanoseconds * max(values.count, 12))
    return """
      <figure class="chart">
      <figcaption>\(label) <small>most: \(words(top))</small></figcaption>
      <svg viewBox="0 0 600 124" role="img" aria-label="\(label), at most \(words(top))" preserveAspectRatio="none">
      <line class="axis" x1="0" y1="121" x2="600" y2="121"/>
      \(bars.joined())
      </svg>
      <p class="ends"><span>0</span><span>\(end.words)</span></p>
      </figure>
      """
  }

  private func text(_ number: Double) -> String { decimal(number, digits: 2) }
}
