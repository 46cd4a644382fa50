public import FlowBase

/// How an output is compared with what the journal knows of it.
public enum OutputCheck: Sendable, Hashable {
  /// By size, times and number; its bytes only where these differ.
  case stat
  /// By its bytes.
  case digest
}

extension OutputTree {
  /// How an output is, compared with its record.
  public enum Condition: Sendable, Hashable {
    /// As it was published.
    case unchanged
    /// The bytes are the same, but the file is another, or was touched; its stamp now.
    case touched(FileStamp)
    /// Other bytes, or no file.
    case altered
    /// Nothing is there.
    case missing
  }

  /// Compares an output with its record.
  public func condition(of output: OutputRecord, by check: OutputCheck = .stat) throws(Fault) -> Condition {
    guard let facts = try facts(output.path) else { return .missing }
    guard facts.kind == .file, facts.size == output.bytes else { return .altered }
    let stamp = FileStamp(facts)
    if check == .stat && stamp == output.stamp { return .unchanged }
    guard try digest(output.path) == output.sha256 else { return .altered }
    return stamp == output.stamp ? .unchanged : .touched(stamp)
  }

  /// Compares some outputs with their records by their bytes, each at its place.
  public func conditions(of outputs: [OutputRecord]) throws(Fault) -> [Condition] {
    var conditions: [Condition] = []
    conditions.reserveCapacity(outputs.count)
    /// The outputs whose bytes decide.
    var alike: [Int] = []
    for (place, output) in outputs.enumerated() {
      let facts = try facts(output.path)
      switch facts {
      case nil: conditions.append(.missing)
      case let facts? where facts.kind == .file && facts.size == output.bytes:
        let stamp = FileStamp(facts)
        conditions.append(stamp == output.stamp ? .unchanged : .touched(stamp))
        alike.append(place)
      default: conditions.append(.altered)
      }
    }
    for (place, digest) in zip(alike, digests(alike.map { outputs[$0].path })) {
      if try digest.get() != outputs[place].sha256 { conditions[place] = .altered }
    }
    return conditions
  }

  /// Whether a file is as it was published, as far as its size, times and number tell.
  public func isInPlace(_ trace: OutputTrace) -> Bool {
    guard let facts = try? facts(trace.path) else { return false }
    return facts.kind == .file && facts.size == trace.bytes && FileStamp(facts) == trace.stamp
  }
}
