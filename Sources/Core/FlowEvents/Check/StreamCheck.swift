internal import FlowBase

/// Checks a captured stream line by line: whether it is one, whether it is whole, and whether it agrees with itself.
///
/// A stream that was filtered has gaps in `seq` and lacks types; what is there must still be in order, and pairs and
/// counts are held to what `run.end` says of the types that are there. Several runs may stand in one file, one after
/// the other, as a file sink that is appended to leaves them.
public struct StreamCheck {
  /// Something that is wrong.
  public struct Problem: Sendable, Hashable {
    /// The line, from 1.
    public var line: Int
    /// What is wrong.
    public var message: String
  }

  /// What was found wrong, in order; at most `limit` problems are kept.
  public private(set) var problems: [Problem] = []
  /// How many lines were seen.
  public private(set) var lines = 0
  /// How many complete runs were seen.
  public private(set) var runs = 0
  /// How many problems are kept.
  public static let limit = 100

  private var run: RunSoFar?
  private let expected: EventFilter?

  /// A check that has seen nothing.
  ///
  /// A stream whose filter is known is held to it; else a type of which nothing is there counts as not asked for.
  public init(expecting expected: EventFilter? = nil) { self.expected = expected }

  /// Checks a whole stream.
  public static func problems(in bytes: [UInt8], expecting expected: EventFilter? = nil) -> [Problem] {
    var check = StreamCheck(expecting: expected)
    var start = bytes.startIndex
    while start < bytes.endIndex {
      let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n"))
      check.take(bytes[start..<(end ?? bytes.endIndex)], isWhole: end != nil)
      start = end.map { $0 + 1 } ?? bytes.endIndex
    }
    check.finish()
    return check.problems
  }

  /// Takes the next line, without its end; a last line without one is torn.
  public mutating func take(_ line: ArraySlice<UInt8>, isWhole: Bool = true) {
    lines += 1
    guard isWhole else { return complain("the line is torn: it has no end") }
    guard let fields = (try? JSONReader.read(line))?.asMap else { return complain("this is no JSON object") }
    guard fields["imgflow"]?.asInt == 1 else { return complain("`imgflow` is not 1: this is no event of this version") }
    guard let seq = fields["seq"]?.asInt, let name = fields["type"]?.asString, fields["time"]?.asString != nil,
      fields["ms"]?.asDouble != nil, let id = fields["run"]?.asString, let data = fields["data"]?.asMap
    else { return complain("an event needs imgflow, seq, type, time, ms, run and data") }
    if name == EventType.streamStart.rawValue {
      if run != nil { complain("a stream starts before the last one ended with run.end") }
      if seq != 0 { complain("stream.start has seq \(seq), not 0") }
      run = RunSoFar(id: id, expected: expected)
    } else if run == nil {
      complain("the first line of a run is \(name), not stream.start")
      run = RunSoFar(id: id, expected: expected)
      run?.seq = seq - 1
    }
    guard var current = run else { return }
    if current.id != id { complain("the run is \(id), before it was \(current.id)") }
    for message in current.take(name, seq, fields, data) { complain(message) }
    run = current
    if name == EventType.runEnd.rawValue {
      runs += 1
      run = nil
    }
  }

  /// Says what is missing at the end.
  public mutating func finish() {
    if lines == 0 { complain("the stream is empty") }
    if run != nil { complain("the stream ends without run.end: its writer was killed, or it was cut off") }
    run = nil
  }

  private mutating func complain(_ message: String) {
    if problems.count < StreamCheck.limit { problems.append(Problem(line: max(1, lines), message: message)) }
  }
}
