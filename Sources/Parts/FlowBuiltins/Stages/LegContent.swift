internal import FlowBase
internal import FlowParts

extension Leg {
  /// The leg's bytes: what a stage before has made, or else the file of this machine that the item is.
  func bytes(for context: StageContext) async throws -> Content {
    if let content {
      guard case .deferred(let work) = content else { return content }
      return try await work.realise()
    }
    guard let path = ownPath else {
      throw Fault(
        "content.missing", .permanent,
        "the item has no bytes yet: \(context.stage) stands behind no stage that gives them")
    }
    return .file(
      try await context.services.blocking.run { () throws(Fault) in
        let facts = try naming("read", path) { () throws(Errno) in try FileSystem.facts(path) }
        let digest = try Digest(.sha256, ofFileAt: path)
        return HeldFile(path: path, bytes: facts.size, sha256: digest, isTemporary: false) { _ in }
      })
  }

  /// Where the item lies on this machine, where it came from there and no stage has made other bytes of it.
  var ownPath: String? { item.url == nil && content == nil ? item.fields["path"]?.asString : nil }
}
