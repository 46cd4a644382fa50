/// The tree of a regular expression.
indirect enum PatternTree {
  case scalar(Unicode.Scalar)
  case set(PatternSet)
  case start
  case end
  case boundary(Bool)
  case sequence([PatternTree])
  case choice([PatternTree])
  case repeated(PatternTree, least: Int, most: Int?)
}

/// Reads the text of a regular expression.
struct PatternParser {
  private let text: [Unicode.Scalar]
  private var place = 0
  private var nesting = 0
  private(set) var ignoresCase = false

  private static let longest = 4096
  private static let deepest = 32
  private static let most = 1000

  init(_ source: String) { text = Array(source.unicodeScalars) }

  mutating func parse() throws(PatternProblem) -> PatternTree {
    if text.count > PatternParser.longest {
      throw PatternProblem(message: "it is longer than \(PatternParser.longest) characters")
    }
    if text.starts(with: "(?i)".unicodeScalars) {
      ignoresCase = true
      place = 4
    }
    let tree = try choice()
    if place < text.count {
      throw PatternProblem(message: "a `)` closes nothing", hint: "write `\\)` for the character")
    }
    return tree
  }

  private var next: Unicode.Scalar? { place < text.count ? text[place] : nil }

  private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    guard next == scalar else { return false }
    place += 1
    return true
  }

  private mutating func choice() throws(PatternProblem) -> PatternTree {
    nesting += 1
    defer { nesting -= 1 }
    if nesting > PatternParser.deepest { throw PatternProblem(message: "its groups are nested too deep") }
    var ways = [try sequence()]
    while take("|") { ways.append(try sequence()) }
    return ways.count == 1 ? ways[0] : .choice(ways)
  }

  private mutating func sequence() throws(PatternProblem) -> PatternTree {
    var parts: [PatternTree] = []
    while let scalar = next, scalar != "|", scalar != ")" {
      let part = try atom()
      parts.append(try repetition(of: part))
    }
    return parts.count == 1 ? parts[0] : .sequence(parts)
  }

  private mutating func repetition(of part: PatternTree) throws(PatternProblem) -> PatternTree {
    var tree = part
    guard let (least, most) = try count() else { return tree }
    tree = .repeated(part, least: least, most: most)
    // A lazy mark changes what is captured, never whether it fits.
    _ = take("?")
    if let scalar = next, "*+".unicodeScalars.contains(scalar) {
      throw PatternProblem(message: "`\(scalar)` repeats a repetition", hint: "put parentheses around it")
    }
    return tree
  }

  private mutating func count() throws(PatternProblem) -> (Int, Int?)? {
    if take("*") { return (0, nil) }
    if take("+") { return (1, nil) }
    if take("?") { return (0, 1) }
    guard next == "{", place + 1 < text.count, ("0"..."9").contains(text[place + 1]) else { return nil }
    place += 1
    let least = try number()
    var most: Int? = least
    if take(",") { most = next == "}" ? nil : try number() }
    guard take("}") else { throw PatternProblem(message: "`{` is not closed", hint: "write `\\{` for the character") }
    if let most, most < least { throw PatternProblem(message: "`{\(least),\(most)}` ends before it begins") }
    return (least, most)
  }

  private mutating func number() throws(PatternProblem) -> Int {
    var number = 0
    var digits = 0
    while let scalar = next, ("0"..."9").contains(scalar) {
      number = number * 10 + Int(scalar.value - 48)
      digits += 1
      place += 1
      if number > PatternParser.most {
        throw PatternProblem(message: "it repeats more than \(PatternParser.most) times")
      }
    }
    if digits == 0 { throw PatternProblem(message: "`{` needs a number", hint: "write `\\{` for the character") }
    return number
  }

  private mutating func atom() throws(PatternProblem) -> PatternTree {
    let scalar = text[place]
    place += 1
    switch scalar {
    case ".": return .set(.dot)
    case "^": return .start
    case "$": return .end
    case "[": return try .set(set())
    case "(": return try group()
    case "\\": return try escape()
    case "*", "+", "?":
      throw PatternProblem(
        message: "`\(scalar)` repeats nothing",
        hint: scalar == "*" ? "`.*` is any text; `\\*` is the character" : "write `\\\(scalar)` for the character")
    default: return literal(scalar)
    }
  }

  private func literal(_ scalar: Unicode.Scalar) -> PatternTree {
    guard ignoresCase else { return .scalar(scalar) }
    let folded = scalar.properties.lowercaseMapping.unicodeScalars.map(PatternTree.scalar)
    return folded.count == 1 ? folded[0] : .sequence(folded)
  }

  private mutating func group() throws(PatternProblem) -> PatternTree {
    if take("?"), !take(":") {
      throw PatternProblem(
        message: "`(?\(next.map { String($0) } ?? "")` is not known",
        hint: "there are `(?:…)`, and `(?i)` at the beginning; no look-around")
    }
    let tree = try choice()
    guard take(")") else { throw PatternProblem(message: "`(` is not closed", hint: "write `\\(` for the character") }
    return tree
  }

  private mutating func escape() throws(PatternProblem) -> PatternTree {
    guard let scalar = next else { throw PatternProblem(message: "it ends with a `\\`", hint: "write `\\\\`") }
    if scalar == "b" || scalar == "B" {
      place += 1
      return .boundary(scalar == "b")
    }
    var set = PatternSet()
    if let one = try escaped(into: &set) { return literal(one) }
    return .set(set)
  }

  /// The character that an escape stands for, or nil where it stands for a class, which is added to the set.
  private mutating func escaped(into set: inout PatternSet) throws(PatternProblem) -> Unicode.Scalar? {
    guard let scalar = next else { throw PatternProblem(message: "it ends with a `\\`", hint: "write `\\\\`") }
    place += 1
    switch scalar {
    case "d": set.classes.append(.digit)
    case "w": set.classes.append(.word)
    case "s": set.classes.append(.space)
    case "D": set.withoutClasses.append(.digit)
    case "W": set.withoutClasses.append(.word)
    case "S": set.withoutClasses.append(.space)
    case "n": return "\n"
    case "r": return "\r"
    case "t": return "\t"
    case "0"..."9":
      throw PatternProblem(message: "back references such as `\\\(scalar)` are not known")
    case _ where scalar.isASCII && scalar.properties.isAlphabetic:
      throw PatternProblem(message: "`\\\(scalar)` is not known", hint: "there are \\d \\w \\s \\b and their capitals")
    default: return scalar
    }
    return nil
  }

  private mutating func set() throws(PatternProblem) -> PatternSet {
    var set = PatternSet()
    set.isNegated = take("^")
    var isFirst = true
    while let scalar = next {
      if scalar == "]", !isFirst {
        place += 1
        return set
      }
      isFirst = false
      guard let low = try setCharacter(into: &set) else { continue }
      var high = low
      if next == "-", place + 1 < text.count, text[place + 1] != "]" {
        place += 1
        guard let upper = try setCharacter(into: &set), upper >= low else {
          throw PatternProblem(message: "a range in `[…]` ends before it begins")
        }
        high = upper
      }
      add(low...high, to: &set)
    }
    throw PatternProblem(message: "`[` is not closed", hint: "write `\\[` for the character")
  }

  private mutating func setCharacter(into set: inout PatternSet) throws(PatternProblem) -> Unicode.Scalar? {
    let scalar = text[place]
    place += 1
    return scalar == "\\" ? try escaped(into: &set) : scalar
  }

  private func add(_ range: ClosedRange<Unicode.Scalar>, to set: inout PatternSet) {
    let values = range.lowerBound.value...range.upperBound.value
    set.ranges.append(values)
    guard ignoresCase else { return }
    if values.count == 1 {
      for scalar in range.lowerBound.properties.lowercaseMapping.unicodeScalars {
        set.ranges.append(scalar.value...scalar.value)
      }
    } else {
      // The text is in lower case; of a range, the capitals of ASCII have their small letters beside them.
      let capitals = values.clamped(to: 65...90)
      if values.overlaps(65...90) { set.ranges.append(capitals.lowerBound + 32...capitals.upperBound + 32) }
    }
  }
}
