public import FlowBase

/// That this process alone writes to a state: held by an open file, so that it ends with its holder, also by a crash.
public final class RunLock: Sendable {
  /// Who holds a lock, as far as the file says.
  public struct Holder: Sendable, Hashable {
    /// The process.
    public var process: Int
    /// The machine.
    public var host: String
    /// Since when.
    public var since: WallTime
  }

  private let file: Descriptor

  /// Takes the lock, or says who holds it.
  ///
  /// - Parameter waits: whether to wait in the kernel until it is free; blocks the thread.
  public init(path: String, waits: Bool = false) throws(Fault) {
    file = try naming("open", path) { () throws(Errno) in
      try FileSystem.open(path, [.readWrite, .create, .noFollow], mode: 0o600)
    }
    let file = file
    let isTaken = try naming("lock", path) { () throws(Errno) in try file.tryLock() }
    if !isTaken {
      guard waits else { throw RunLock.refusal(path, RunLock.holder(of: path)) }
      try naming("lock", path) { () throws(Errno) in try file.lock() }
    }
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("pid")
    writer.int(ThisProcess.id)
    writer.key("host")
    writer.string(ThisProcess.host)
    writer.key("since")
    writer.int(SystemTime().wall().microseconds)
    writer.endObject()
    writer.verbatim(UInt8(ascii: "\n"))
    let line = writer.bytes
    try naming("write", path) { () throws(Errno) in
      try file.truncate(to: 0)
      try file.write(line)
    }
  }

  /// Gives the lock back.
  public func release() { file.unlock() }

  /// Who wrote the lock's file last; whether they still hold it, it does not say.
  public static func holder(of path: String) -> Holder? {
    guard let bytes = try? FileSystem.read(path, limit: 4096), let value = try? JSONReader.read(bytes),
      let fields = value.asMap, let process = fields["pid"]?.asInt
    else { return nil }
    return Holder(
      process: process, host: fields["host"]?.asString ?? "?",
      since: WallTime(microseconds: fields["since"]?.asInt ?? 0))
  }

  private static func refusal(_ path: String, _ holder: Holder?) -> Fault {
    let who = holder.map { "process \($0.process) on \($0.host), since \($0.since.text)" } ?? "another process"
    return Fault(
      "state.locked", .local,
      "\(PathText.parent(of: path)) is held by \(who); wait for it with `--wait-lock`, or use another state directory")
  }
}
