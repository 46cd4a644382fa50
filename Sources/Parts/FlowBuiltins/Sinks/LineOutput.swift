internal import FlowBase
internal import FlowParts

/// Where a sink of lines writes to.
enum LineTarget: Hashable {
  case stream(StandardStream)
  case descriptor(Int32)
  case file(String)

  /// Reads `stdout`, `-`, `stderr`, `fd:N` or a path, which starts from `folder`.
  init(parsing text: String, folder: String) throws(Fault) {
    switch text {
    case "stdout", "-": self = .stream(.output)
    case "stderr": self = .stream(.errors)
    case "": throw Fault("config.sink", .config, "`to` is empty; name stdout, stderr, fd:N or a path")
    default:
      guard text.hasPrefix("fd:") else {
        self = .file(text.hasPrefix("/") ? text : "\(folder)/\(text)")
        return
      }
      guard let number = Int32(text.dropFirst(3)), number >= 0 else {
        throw Fault("config.sink", .config, "`\(text)` is no descriptor; write fd: and a number, such as fd:3")
      }
      self = .descriptor(number)
    }
  }
}

/// When a file of lines is put aside.
struct Rotation: Hashable {
  /// The size in bytes that a file does not pass.
  var size: Int
  /// How many old files stay.
  var keep: Int

  static let field = FieldSpec(
    "rotate",
    .object([
      FieldSpec("size", .byteCount, phase: .load, required: true, "The size that the file does not pass."),
      FieldSpec("keep", .integer(0...1000), phase: .load, default: "5", "How many older files stay, as PATH.1 and on."),
    ]), phase: .load, "When the file is put aside and a new one begun.")

  /// Reads `{ size, keep }`; nil where nothing is said.
  init?(_ config: Config) {
    guard let fields = config.value("rotate")?.asMap,
      let size = fields["size"].flatMap({ FieldType.byteCount.convert($0) })?.asInt
    else { return nil }
    self.size = max(1, size)
    keep = fields["keep"]?.asInt ?? 5
  }
}

/// Takes whole lines to a stream, a descriptor or a file.
final class LineOutput: Sendable {
  let target: LineTarget
  private let rotation: Rotation?
  private let file = Guarded<AppendFile?>(nil)

  init(_ target: LineTarget, rotation: Rotation? = nil) {
    self.target = target
    self.rotation = rotation
  }

  /// Looks at once whether a descriptor that is named is open: later, a file of the run may have taken its number.
  convenience init(to place: String, folder: String, rotation: Rotation? = nil) throws(Fault) {
    let target = try LineTarget(parsing: place, folder: folder)
    if case .descriptor(let number) = target, !Streams.canWrite(number) {
      throw Fault("config.sink", .config, "fd:\(number) is not open for writing; the caller must open it")
    }
    self.init(target, rotation: rotation)
  }

  convenience init(_ config: Config, folder: String) throws(Fault) {
    try self.init(to: config.text("to") ?? "stdout", folder: folder, rotation: Rotation(config))
  }

  /// Whether the end of a run waits for the reader for as long as it takes, as every program does on its own output.
  var patience: Interval? {
    if case .file = target { .seconds(30) } else { nil }
  }

  func open() throws(Fault) {
    switch target {
    case .stream, .descriptor: break
    case .file(let path):
      let slash = path.lastIndex(of: "/") ?? path.startIndex
      if slash > path.startIndex { try SmallFiles.makeFolder(String(path[..<slash])) }
      let opened = try AppendFile(path)
      file.withLock { $0 = opened }
    }
  }

  func write(_ lines: [UInt8]) throws(Fault) {
    switch target {
    case .stream(let stream):
      try Streams.send(lines, to: stream.rawValue, named: stream == .output ? "standard output" : "standard error")
    case .descriptor(let number): try Streams.send(lines, to: number, named: "fd:\(number)")
    case .file:
      try file.withLock { (file) throws(Fault) in
        if let rotation, let file, file.size > 0, file.size + lines.count > rotation.size {
          try file.rotate(keep: rotation.keep)
        }
        try file?.write(lines)
      }
    }
  }

  func close() { file.withLock { $0 = nil } }
}
