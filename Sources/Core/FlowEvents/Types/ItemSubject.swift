/// The item that an event is about.
///
/// Three events an item and more carry it through the bus; the texts that they share are one reference.
public struct ItemSubject: Sendable, Hashable {
  private var box: Box

  /// The item's name, `source/key`.
  public var item: String {
    get { box.texts.item }
    set { own().texts.item = newValue }
  }
  /// Its place in its source, from 1.
  public var index: Int
  /// The number of items of that source; nil while it is unknown.
  public var total: Int?
  /// Its address; nil for files of this machine.
  public var url: String? {
    get { box.texts.url }
    set { own().texts.url = newValue }
  }
  /// The id of its source.
  public var source: String {
    get { box.texts.source }
    set { own().texts.source = newValue }
  }
  /// The name of the item that a stage made it from.
  public var parent: String? {
    get { box.texts.parent }
    set { own().texts.parent = newValue }
  }
  /// The stage where it happened.
  public var stage: String?
  /// Which try it was, from 1.
  public var attempt: Int?

  /// An item.
  public init(
    item: String, index: Int, total: Int? = nil, url: String? = nil, source: String, parent: String? = nil,
    stage: String? = nil, attempt: Int? = nil
  ) {
    box = Box(Texts(item: item, url: url, source: source, parent: parent))
    self.index = index
    self.total = total
    self.stage = stage
    self.attempt = attempt
  }

  /// Whether both are the same item at the same point.
  public static func == (left: ItemSubject, right: ItemSubject) -> Bool {
    (left.box === right.box || left.box.texts == right.box.texts) && left.index == right.index
      && left.total == right.total && left.stage == right.stage && left.attempt == right.attempt
  }

  /// Takes in all that tells subjects apart.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(box.texts)
    hasher.combine(index)
    hasher.combine(total)
    hasher.combine(stage)
    hasher.combine(attempt)
  }

  /// The box, for a change: it is this copy's alone from now on.
  private mutating func own() -> Box {
    if !isKnownUniquelyReferenced(&box) { box = Box(box.texts) }
    return box
  }

  private struct Texts: Sendable, Hashable {
    var item: String
    var url: String?
    var source: String
    var parent: String?
  }

  /// What the copies of a subject share; changed only while there is a single one.
  private final class Box: @unchecked Sendable {
    var texts: Texts

    init(_ texts: Texts) { self.texts = texts }
  }
}
