import FlowBase
import FlowParts

/// What a node hands on.
///
/// The nodes behind it, the events and the journal all look at it, so that a copy is one reference.
struct NodeResult: Sendable {
  private var box: Box

  /// All fields that stages have set on this leg so far.
  var fields: Fields {
    get { box.parts.fields }
    _modify { yield &own().parts.fields }
  }
  var content: Content? {
    get { box.parts.content }
    set { own().parts.content = newValue }
  }
  /// The room that the content takes in memory, where it does.
  var share: MemoryBudget.Share? {
    get { box.parts.share }
    set { own().parts.share = newValue }
  }
  /// What the node itself has published.
  var outputs: [OutputFact] {
    get { box.parts.outputs }
    set { own().parts.outputs = newValue }
  }

  private static let nothing = Box(Parts(fields: [:]))

  /// The result of a node that has nothing before it.
  init() { box = NodeResult.nothing }

  init(fields: Fields, content: Content? = nil) { box = Box(Parts(fields: fields, content: content)) }

  /// The box, for a change: it is this copy's alone from now on.
  private mutating func own() -> Box {
    if !isKnownUniquelyReferenced(&box) { box = Box(box.parts) }
    return box
  }

  private struct Parts: Sendable {
    var fields: Fields
    var content: Content?
    var share: MemoryBudget.Share?
    var outputs: [OutputFact] = []
  }

  /// What the copies of a result share; changed only while there is a single one.
  private final class Box: @unchecked Sendable {
    var parts: Parts

    init(_ parts: Parts) { self.parts = parts }
  }
}
