internal import FlowBase

/// The logins of a netrc file, by host.
struct Netrc: Sendable, Hashable {
  private struct Entry: Sendable, Hashable {
    /// Nil for `default`.
    var machine: String?
    var login = ""
    var password = ""
  }

  private var entries: [Entry] = []

  /// None.
  init() {}

  /// Reads the text of a netrc file; what it does not understand it leaves out.
  init(parsing text: String) {
    var isMacro = false
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      // The body of a macro ends with an empty line.
      if isMacro {
        isMacro = !line.allSatisfy(\.isWhitespace)
        continue
      }
      var words = Netrc.words(of: line)[...]
      while let word = words.popFirst() {
        switch word {
        case "machine": entries.append(Entry(machine: words.popFirst()?.lowercased() ?? ""))
        case "default": entries.append(Entry(machine: nil))
        case "login" where !entries.isEmpty: entries[entries.count - 1].login = words.popFirst() ?? ""
        case "password" where !entries.isEmpty: entries[entries.count - 1].password = words.popFirst() ?? ""
        case "account": _ = words.popFirst()
        case "macdef":
          isMacro = true
          words = []
        default: break
        }
      }
    }
  }

  /// Reads the user's file; none where there is none.
  init(ofUserAt path: String?) {
    let bytes = path.flatMap { try? SmallFiles.read($0, limit: 1 << 20) } ?? []
    self.init(parsing: String(decoding: bytes, as: UTF8.self))
  }

  /// Where the user's file lies: `$NETRC`, else `~/.netrc`.
  static var usualPath: String? {
    Environment.value(of: "NETRC") ?? Environment.value(of: "HOME").map { $0 + "/.netrc" }
  }

  /// `login:password` for a host.
  func login(for host: String) -> String? {
    let entry = entries.first { $0.machine == host } ?? entries.first { $0.machine == nil }
    return entry.map { "\($0.login):\($0.password)" }
  }

  /// The words of a line: parted by blanks, quoted where they hold some; a `#` begins a comment.
  private static func words(of line: Substring) -> [String] {
    var words: [String] = []
    var word = ""
    var isInWord = false
    var isQuoted = false
    var isEscaped = false
    for character in line {
      if isEscaped {
        word.append(character)
        isEscaped = false
      } else if isQuoted {
        if character == "\\" {
          isEscaped = true
        } else if character == "\"" {
          isQuoted = false
        } else {
          word.append(character)
        }
      } else if character.isWhitespace {
        if isInWord { words.append(word) }
        (word, isInWord) = ("", false)
      } else if !isInWord, character == "#" {
        break
      } else if !isInWord, character == "\"" {
        (isQuoted, isInWord) = (true, true)
      } else {
        word.append(character)
        isInWord = true
      }
    }
    if isInWord { words.append(word) }
    return words
  }
}
