internal import FlowBase
internal import FlowYAML

/// Finds the places in the file of characters inside a scalar.
struct ScalarPlace {
  private let node: Node
  private let lines: (_ file: String, _ number: Int) -> String?
  /// The place of each character, found when it is first asked for.
  private var spots: [Spot]?

  init(_ node: Node, lines: @escaping (_ file: String, _ number: Int) -> String?) {
    self.node = node
    self.lines = lines
  }

  private func line(_ number: Int) -> String? { lines(node.file, number) }

  /// The place of the scalar's character at an offset, counted after YAML's unquoting.
  mutating func mark(at offset: Int, length: Int) -> Mark {
    guard case .scalar(let text, let style) = node.content else { return node.mark }
    let fallback = Mark(
      line: node.mark.line, column: node.mark.column + (style == .quoted ? 1 : 0) + offset, length: length)
    guard style != .plain || offset >= node.mark.length, line(node.mark.line) != nil else {
      return style == .block ? node.mark : fallback
    }
    let places = spots ?? (style == .block ? blockPlaces() : flowPlaces(text, isQuoted: style == .quoted))
    spots = places
    guard places.indices.contains(offset) else { return node.mark }
    let place = places[offset]
    var mark = Mark(line: place.line, column: place.column, length: length)
    if places.indices.contains(offset + length - 1), places[offset + length - 1].line == place.line {
      mark.length = max(1, places[offset + length - 1].column - place.column + 1)
    }
    return mark
  }

  private typealias Spot = (line: Int, column: Int)

  /// The places of the characters of a plain or quoted scalar, line folds and escapes counted as YAML does.
  private func flowPlaces(_ text: String, isQuoted: Bool) -> [Spot] {
    var spots: [Spot] = []
    let target = text.unicodeScalars.count
    var number = node.mark.line
    var scalars = Array((line(number) ?? "").unicodeScalars)
    var column = node.mark.column - 1
    guard scalars.indices.contains(column) else { return [] }
    let quote: Unicode.Scalar? = isQuoted ? scalars[column] : nil
    if isQuoted { column += 1 }
    while spots.count < target {
      guard column < scalars.count else {
        // A fold: blanks at the line's end belong to it, one blank stands for it, and each empty line is a newline.
        while let last = spots.last, last.line == number, [" ", "\t"].contains(scalars[last.column - 1]) {
          spots.removeLast()
        }
        var newlines = 0
        repeat {
          number += 1
          guard let next = line(number) else { return spots }
          scalars = Array(next.unicodeScalars)
          column = scalars.firstIndex { $0 != " " && $0 != "\t" } ?? scalars.count
          if column == scalars.count { newlines += 1 }
        } while column == scalars.count
        spots.append(contentsOf: Array(repeating: (number, column + 1), count: max(1, newlines)))
        continue
      }
      spots.append((number, column + 1))
      if quote == "\"", scalars[column] == "\\" {
        column += 1
        let escape = column < scalars.count ? scalars[column] : " "
        column += escape == "x" ? 3 : escape == "u" ? 5 : escape == "U" ? 9 : 1
      } else if quote == "'", scalars[column] == "'" {
        column += 2
      } else {
        column += 1
      }
    }
    return spots
  }

  /// The places of the characters of a block scalar: the lines below its mark, without their common indentation.
  private func blockPlaces() -> [Spot] {
    guard case .scalar(let text, _) = node.content else { return [] }
    var spots: [Spot] = []
    let target = Array(text.unicodeScalars)
    var number = node.mark.line + 1
    var indentation: Int?
    while spots.count < target.count, let next = line(number) {
      let scalars = Array(next.unicodeScalars)
      let blanks = scalars.firstIndex { $0 != " " } ?? scalars.count
      if indentation == nil, blanks < scalars.count { indentation = blanks }
      for column in scalars.indices.dropFirst(indentation ?? scalars.count) where spots.count < target.count {
        spots.append((number, column + 1))
      }
      if spots.count < target.count { spots.append((number, scalars.count + 1)) }
      number += 1
    }
    return spots
  }
}
