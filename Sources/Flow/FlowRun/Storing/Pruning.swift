import FlowEvents
import FlowStore

/// What came of the files that no item makes any more, in words.
struct Pruning: Sendable {
  /// How many were removed.
  var removed = 0
  /// How many stay for items that were dropped since they have the same.
  var standing = 0
  /// The sources that gave nothing, and how many files of each stay.
  var emptied: [EmptiedSource] = []

  /// What is told of it.
  var lines: [Payload.LogLine] {
    var lines = [Payload.LogLine(.info, "removed \(Pruning.files(removed)) that no item makes any more")]
    if standing > 0 {
      lines.append(
        Payload.LogLine(
          .info,
          "kept \(Pruning.files(standing)) that no item makes any more: items of this run were dropped since they have "
            + "the same"))
    }
    for source in emptied {
      lines.append(
        Payload.LogLine(
          .warn,
          "kept \(Pruning.files(source.files)) of the source `\(source.name)`: it has given no item in this run; where that is "
            + "meant, take it out of the manifest"))
    }
    return lines
  }

  private static func files(_ count: Int) -> String { count == 1 ? "1 file" : "\(count) files" }
}
