internal import FlowBase
internal import FlowParts
internal import FlowYAML

/// A stage as it stands in the manifest, before its edges are known.
struct StageDraft {
  /// A name of another stage, with its place.
  struct Mention {
    var id: String
    var place: Place
  }

  var resolved: ResolvedEntry
  var part: StagePart
  /// The stages of `needs`; nil where the one above is meant.
  var needs: [Mention]?
  var after: [Mention]
  /// What `per` says; nil where it says nothing.
  var per: Per?
  /// The expression of `per: { group: … }`.
  var group: Node?
  /// The legs of its own matrix.
  var legs: [Fields] = [[:]]
  var hasMatrix = false
  /// The names of its own axes, there also where it has no leg.
  var axisNames: [String] = []

  /// Whether it is the look that comes before a stage, and all that is wrong is told of that stage.
  var isLook = false

  var id: String { resolved.id }
  /// Its name in messages.
  var subject: String { "stage `\(id)`" }
}

/// How the stages hang together.
struct Edges {
  /// The drafts, each after all that it needs or follows.
  var order: [Int] = []
  var needs: [[Int]] = []
  var after: [[Int]] = []
  /// What each draft works on.
  var per: [Per] = []
  /// The draft whose `group` expression holds for a draft.
  var groupOwner: [Int?] = []
}
