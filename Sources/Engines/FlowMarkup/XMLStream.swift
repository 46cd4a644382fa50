internal import CXML
public import FlowBase
public import FlowRecords

/// Reads XML piece by piece, in memory that does not grow with the document.
///
/// Nothing is fetched for it, and no entity of its own is put in. One thread at a time reads it.
@safe public final class XMLStream {
  /// What comes next in a document.
  public enum Piece: Sendable, Hashable {
    /// An element begins; its name without a prefix.
    case start(String)
    /// Text.
    case text(String)
    /// An element ends.
    case end(String)
  }

  private let bytes: Bytes
  private let reader: UnsafeMutableRawPointer
  /// The name of an element without content, whose end has not been told.
  private var pendingEnd: String?

  /// The most bytes of a document, unpacked; sitemaps may have 50 MB.
  public static let mostBytes = 256 << 20

  /// Begins to read a document.
  public init(_ source: any ByteSource) throws(Fault) {
    try Markup.load()
    bytes = Bytes(source)
    let context = unsafe Unmanaged.passUnretained(bytes).toOpaque()
    let made = unsafe imgflow_xml_open(
      { context, buffer, length in
        guard let context = unsafe context, let buffer = unsafe buffer else { return -1 }
        let bytes = unsafe Unmanaged<Bytes>.fromOpaque(context).takeUnretainedValue()
        return Int32(unsafe bytes.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: Int(length))))
      }, context)
    guard let made = unsafe made else { throw .internal("xml", "the reader did not start") }
    unsafe reader = unsafe made
  }

  deinit { unsafe imgflow_xml_close(reader) }

  /// The next piece; nil at the end of the document.
  public func next() throws(Fault) -> Piece? {
    if let name = pendingEnd {
      pendingEnd = nil
      return .end(name)
    }
    while true {
      let status = unsafe imgflow_xml_next(reader)
      if let fault = bytes.fault { throw fault }
      if status == 0 { return nil }
      guard status == 1 else {
        throw Fault(
          "source.markup", .permanent,
          "\(bytes.source.name):\(unsafe imgflow_xml_line(reader)): what stands here is no well-formed XML")
      }
      switch unsafe imgflow_xml_kind(reader) {
      case 1:
        let name = name
        if unsafe imgflow_xml_is_empty(reader) != 0 { pendingEnd = name }
        return .start(name)
      case 3, 4: return .text(unsafe imgflow_xml_text(reader).map { unsafe String(cString: $0) } ?? "")
      case 15: return .end(name)
      default: continue
      }
    }
  }

  /// An attribute of the element that has just begun.
  public func attribute(_ name: String) -> String? {
    guard let text = unsafe imgflow_xml_attribute(reader, name) else { return nil }
    defer { unsafe imgflow_xml_give_back(text) }
    return unsafe String(cString: text)
  }

  private var name: String { unsafe imgflow_xml_name(reader).map { unsafe String(cString: $0) } ?? "" }

  /// What the library reads from.
  private final class Bytes {
    let source: any ByteSource
    var fault: Fault?
    private var left = XMLStream.mostBytes

    init(_ source: any ByteSource) { self.source = source }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
      do throws(Fault) {
        let count = try unsafe source.read(into: buffer)
        left -= count
        if left < 0 {
          throw Fault(
            "source.too_large", .permanent,
            "\(source.name) has more than \(ByteCount(XMLStream.mostBytes).text) of XML")
        }
        return count
      } catch {
        fault = error
        return -1
      }
    }
  }
}

/// The library behind it all.
enum Markup {
  /// Loads it, or says what to do where it is not there.
  static func load() throws(Fault) {
    guard imgflow_xml_load() == 0 else {
      throw Fault(
        "config.library", .config, "XML and HTML need the library libxml2, which is not there: apt-get install libxml2")
    }
  }
}
