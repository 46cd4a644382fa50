internal import CXML
public import FlowBase

/// A page of HTML, read as browsers do: with whatever mistakes it has.
@safe public final class HTMLPage {
  /// An element of the page.
  public struct Element: Sendable, Hashable {
    /// Its name, in small letters.
    public var name: String
    /// The attributes that were asked for and that it has.
    public var attributes: [String: String]
    /// The text in it.
    public var text: String
  }

  private let document: UnsafeMutableRawPointer

  /// Reads a page; the encoding is the one that its server names, if it names one.
  public init(_ bytes: [UInt8], encoding: String? = nil) throws(Fault) {
    try Markup.load()
    let made = unsafe bytes.withUnsafeBufferPointer { (buffer) -> UnsafeMutableRawPointer? in
      guard let base = buffer.baseAddress else { return nil }
      let count = Int32(clamping: buffer.count)
      let text = unsafe UnsafeRawPointer(base).assumingMemoryBound(to: CChar.self)
      if let page = unsafe imgflow_html_parse(text, count, encoding) { return unsafe page }
      // An encoding that the library does not know is worse than none.
      return unsafe imgflow_html_parse(text, count, nil)
    }
    guard let made = unsafe made else { throw Fault("source.markup", .permanent, "the page holds no HTML") }
    unsafe document = unsafe made
  }

  deinit { unsafe imgflow_html_close(document) }

  /// The elements that a selector names, in the page's order, each with those of the attributes that it has.
  public func elements(_ selector: Selector, attributes: [String], most: Int = 1_000_000) throws(Fault) -> [Element] {
    guard let selection = unsafe imgflow_html_select(document, selector.path) else {
      throw Fault("config.selector", .config, "`\(selector.text)` is no selector that can be followed")
    }
    defer { unsafe imgflow_html_drop_selection(selection) }
    var elements: [Element] = []
    for place in 0..<min(unsafe imgflow_html_count(selection), Int32(clamping: most)) {
      var element = Element(name: "", attributes: [:], text: "")
      element.name = unsafe imgflow_html_name(selection, place).map { unsafe String(cString: $0) } ?? ""
      for name in attributes {
        if let value = unsafe taken(imgflow_html_attribute(selection, place, name)) {
          element.attributes[name] = value
        }
      }
      element.text = unsafe taken(imgflow_html_text(selection, place)) ?? ""
      elements.append(element)
    }
    return elements
  }

  private func taken(_ text: UnsafeMutablePointer<CChar>?) -> String? {
    guard let text = unsafe text else { return nil }
    defer { unsafe imgflow_xml_give_back(text) }
    return unsafe String(cString: text)
  }
}
