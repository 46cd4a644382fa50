internal import FlowBase
internal import FlowEvents

/// A report as one page of HTML that loads nothing and runs nothing.
struct ReportPage {
  let book: ReportBook
  let title: String
  /// The small forms of the sample of pictures.
  let thumbnails: [Thumbnail]

  /// The page.
  var text: String {
    """
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
    <title>\(XMLText.attribute(title)) – imgflow</title>
    <style>
    \(ReportStyle.css)
    </style>
    </head>
    <body>
    <main>
    \(head)
    \(totals)
    \(timelines)
    \(failures)
    \(stages)
    \(pictures)
    </main>
    </body>
    </html>

    """
  }

  // MARK: Sections

  private var head: String {
    let result = book.end?.result.rawValue ?? "cut off"
    let mood = result == "success" ? "good" : result == "cancelled" ? "calm" : "bad"
    let time = String(book.started.text.prefix(19)).split(separator: "T").joined(separator: " ")
    return """
      <header>
      <h1>\(cell(title))</h1>
      <p><span class="badge \(mood)">\(result)</span> run <code>\(cell(book.run))</code> · \(time) UTC · \
      took \(book.elapsed.words)</p>
      \(book.diagnostics.map { "<p class=\"diagnostic\">\(cell($0.line))</p>" }.joined(separator: "\n"))
      </header>
      """
  }

  private var totals: String {
    let items = book.end?.items ?? ItemCounts()
    var tiles: [(value: String, label: String, mood: String)] = [
      (number(items.total ?? items.ended), "items", ""), (number(items.ok), "ok", "good"),
      (number(items.failed), "failed", items.failed > 0 ? "bad" : ""),
    ]
    for (count, label) in [(items.cached, "from before"), (items.filtered, "filtered"), (items.cancelled, "cancelled")]
    where count > 0 {
      tiles.append((number(count), label, ""))
    }
    tiles.append((ByteCount(book.end?.bytesIn ?? 0).text, "received", ""))
    tiles.append((number(book.files), "files, \(ByteCount(book.fileBytes).text)", ""))
    let list = tiles.map { "<div><dd class=\"\($0.mood)\">\($0.value)</dd><dt>\($0.label)</dt></div>" }
    return "<dl class=\"tiles\">\n\(list.joined(separator: "\n"))\n</dl>"
  }

  private var timelines: String {
    let items = ReportChart(
      label: "Items a second", values: book.items.rates, width: book.items.width,
      words: { $0 >= 9.95 ? number(Int($0.rounded())) : decimal($0, digits: 1) })
    let bytes = ReportChart(
      label: "Received a second", values: book.bytes.rates, width: book.bytes.width,
      words: { ByteCount(Int($0)).text + "/s" })
    let charts = [items, bytes].compactMap(\.svg)
    guard !charts.isEmpty else { return "" }
    return section("Throughput", "<div class=\"charts\">\n\(charts.joined(separator: "\n"))\n</div>")
  }

  private var failures: String {
    let groups = book.groups.sorted
    guard !groups.isEmpty else { return "" }
    var rows = groups.map { group in
      "<tr><td class=\"number\">\(number(group.count))</td><td><code>\(cell(group.code))</code></td>"
        + "<td>\(cell(group.host ?? "–"))</td><td>\(cell(group.example))<br><small>\(cell(group.message))</small></td></tr>"
    }
    if book.groups.others > 0 {
      rows.append("<tr><td class=\"number\">\(number(book.groups.others))</td><td colspan=\"3\">others</td></tr>")
    }
    var body = table(["times", "code", "host", "such as"], rows)
    if !book.failures.isEmpty {
      let failed = book.end?.items.failed ?? book.failures.count
      let shown = book.failures.count < failed ? "the first \(number(book.failures.count)) of \(number(failed))" : "all"
      let list = book.failures.map { failure in
        "<tr><td>\(cell(failure.item))<br><small>\(cell(failure.url ?? ""))</small></td>"
          + "<td><code>\(cell(failure.code))</code></td><td>\(cell(failure.message))</td></tr>"
      }
      body += "\n<details><summary>Items that failed (\(shown))</summary>\n"
      body += table(["item", "code", "what happened"], list) + "\n</details>"
    }
    return section("Failures", body)
  }

  private var stages: String {
    guard !book.stages.isEmpty else { return "" }
    let rows = book.stages.map { stage in
      "<tr><td><code>\(cell(stage.stage))</code></td><td class=\"number\">\(number(stage.ok))</td>"
        + "<td class=\"number\">\(number(stage.failed))</td><td class=\"number\">\(number(stage.filtered))</td>"
        + "<td class=\"number\">\(stage.elapsed.words)</td></tr>"
    }
    return section("Stages", table(["stage", "ok", "failed", "filtered", "from first to last"], rows))
  }

  private var pictures: String {
    let figures = thumbnails.map { thumbnail in
      let picture = thumbnail.picture
      let size = picture.width.flatMap { width in picture.height.map { "<small> \(width)×\($0)</small>" } } ?? ""
      return "<figure><img alt=\"\(cell(picture.item))\" src=\"data:\(thumbnail.media);base64,"
        + "\(Base64.encode(thumbnail.bytes))\"><figcaption>\(cell(picture.item))\(size)</figcaption></figure>"
    }
    guard !figures.isEmpty else { return "" }
    let all = book.pictures.count
    let note =
      figures.count < all
      ? "<p>A sample: \(number(figures.count)) of \(number(all)), spread evenly over the run.</p>\n" : ""
    return section("Pictures", note + "<div class=\"pictures\">\n\(figures.joined(separator: "\n"))\n</div>")
  }

  // MARK: Pieces

  private func section(_ title: String, _ body: String) -> String {
    "<section>\n<h2>\(title)</h2>\n\(body)\n</section>"
  }

  private func table(_ heads: [String], _ rows: [String]) -> String {
    let numbers: Set = ["times", "ok", "failed", "filtered", "from first to last"]
    let head = heads.map { "<th scope=\"col\"\(numbers.contains($0) ? " class=\"number\"" : "")>\($0)</th>" }.joined()
    return "<div class=\"scroll\"><table>\n<thead><tr>\(head)</tr></thead>\n<tbody>\n"
      + rows.joined(separator: "\n") + "\n</tbody>\n</table></div>"
  }

  /// A text that becomes no markup.
  private func cell(_ text: String) -> String { XMLText.attribute(TextWidth.printable(text)) }

  /// A number with its thousands apart.
  private func number(_ number: Int) -> String {
    let digits = Array(String(abs(number)))
    var text = number < 0 ? "-" : ""
    for (place, digit) in digits.enumerated() {
      if place > 0, (digits.count - place) % 3 == 0 { text += "," }
      text.append(digit)
    }
    return text
  }
}
