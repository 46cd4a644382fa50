/// What a robots.txt (RFC 9309) allows one kind of visitor.
struct RobotsRules: Sendable, Hashable {
  private struct Rule: Sendable, Hashable {
    var allows: Bool
    var pattern: [UInt8]
  }

  private var rules: [Rule] = []

  /// Nothing is forbidden.
  init() {}

  /// Everything is.
  static let closed: RobotsRules = {
    var rules = RobotsRules()
    rules.rules = [Rule(allows: false, pattern: [UInt8(ascii: "/")])]
    return rules
  }()

  /// Reads the rules for a visitor of this `User-Agent`; those for all where none name it.
  init(parsing text: String, for userAgent: String) {
    let product = RobotsRules.product(of: userAgent)
    var own: [Rule]?
    var general: [Rule] = []
    var names: [String] = []
    var isInRules = false
    for line in text.split(whereSeparator: \.isNewline) {
      let content = line.prefix { $0 != "#" }
      guard let colon = content.firstIndex(of: ":") else { continue }
      let value = content[content.index(after: colon)...].drop { $0.isWhitespace }
      let end = value.lastIndex { !$0.isWhitespace }
      let text = end.map { String(value[...$0]) } ?? ""
      switch content[..<colon].filter({ !$0.isWhitespace }).lowercased() {
      case "user-agent":
        if isInRules { names = [] }
        isInRules = false
        names.append(RobotsRules.product(of: text))
        if names.last == product, own == nil { own = [] }
      case "allow", "disallow":
        isInRules = true
        guard !text.isEmpty else { continue }
        let allows =
          content.prefix(1).lowercased() == "a" || content.drop { $0.isWhitespace }.prefix(1).lowercased() == "a"
        let rule = Rule(allows: allows, pattern: Array(text.utf8))
        if names.contains(product) { own?.append(rule) }
        if names.contains("*") { general.append(rule) }
      default: break
      }
    }
    rules = own ?? general
  }

  /// Whether a path with its query may be asked for: the longest rule that fits decides, and of equal ones the mild one.
  func allows(_ target: String) -> Bool {
    let target = Array(target.utf8)
    var best = (length: -1, allows: true)
    for rule in rules where RobotsRules.matches(rule.pattern[...], target[...]) {
      if rule.pattern.count > best.length || rule.pattern.count == best.length && rule.allows {
        best = (rule.pattern.count, rule.allows)
      }
    }
    return best.allows
  }

  /// The name of a program: what stands before its version.
  private static func product(of userAgent: String) -> String {
    let name = userAgent.drop { $0 == " " }.prefix { $0.isASCII && $0.isLetter || $0 == "_" || $0 == "-" || $0 == "*" }
    return name.lowercased()
  }

  /// Whether a pattern fits the beginning of a path; `*` stands for anything, `$` at the end for the path's end.
  private static func matches(_ pattern: ArraySlice<UInt8>, _ text: ArraySlice<UInt8>) -> Bool {
    let star = UInt8(ascii: "*")
    let isAnchored = pattern.last == UInt8(ascii: "$")
    let pattern = isAnchored ? pattern.dropLast() : pattern
    var (p, t) = (pattern.startIndex, text.startIndex)
    var retry: (p: Int, t: Int)?
    while true {
      if p == pattern.endIndex, !isAnchored || t == text.endIndex { return true }
      if p < pattern.endIndex, pattern[p] == star {
        p += 1
        retry = (p, t)
      } else if p < pattern.endIndex, t < text.endIndex, pattern[p] == text[t] {
        p += 1
        t += 1
      } else if let back = retry, back.t < text.endIndex {
        retry = (back.p, back.t + 1)
        (p, t) = (back.p, back.t + 1)
      } else {
        return false
      }
    }
  }
}
