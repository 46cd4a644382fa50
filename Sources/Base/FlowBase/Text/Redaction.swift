/// Takes secrets out of texts before anybody sees them.
///
/// Secrets are the texts that it is made with, user info in URLs, and the values of query parameters whose names tell
/// that they are secret.
public struct Redaction: Sendable {
  /// What stands in a secret's place.
  public static let mask = "***"

  /// By first byte, the longest first.
  private let secrets: [[[UInt8]]]
  private let hasSecrets: Bool
  /// The bytes that make a closer look necessary.
  private let marks: ByteSet

  /// A redaction of these texts, and of their percent-encoded forms.
  public init(secrets: [String] = []) {
    var table = [[[UInt8]]](repeating: [], count: 256)
    let forms = Set(secrets.flatMap { [$0, PercentEncoding.encode($0)] }).filter { !$0.isEmpty }
    for form in forms.map({ Array($0.utf8) }).sorted(by: { $0.count > $1.count }) {
      table[Int(form[0])].append(form)
    }
    self.secrets = table
    hasSecrets = !forms.isEmpty
    marks = ByteSet(Array("?&@".utf8) + forms.compactMap(\.utf8.first))
  }

  /// The text with every secret in it replaced by `***`.
  public func redact(_ text: String) -> String { masked(text) ?? text }

  /// The text with every secret in it replaced by `***`; nil where there is none.
  public func masked(_ text: String) -> String? {
    guard marks.meets(text) else { return nil }
    let bytes = Array(text.utf8)
    let clean = hasSecrets ? withoutSecrets(bytes) : nil
    return (AddressRedaction.mask(clean ?? bytes) ?? clean).map { String(decoding: $0, as: UTF8.self) }
  }

  private static let addressMarks = ByteSet(Array("?&@".utf8))

  /// A URL, or a text in which URLs stand, without user info and without the values of telling parameters.
  public static func url(_ text: String) -> String {
    guard addressMarks.meets(text),
      let masked = AddressRedaction.mask(Array(text.utf8))
    else { return text }
    return String(decoding: masked, as: UTF8.self)
  }

  /// Whether the name of a query parameter or field tells that its value is secret.
  public static func isTelling(_ name: String) -> Bool { AddressRedaction.isTelling(Array(name.utf8)[...]) }

  private func withoutSecrets(_ bytes: [UInt8]) -> [UInt8]? {
    var result: [UInt8]?
    var place = 0
    while place < bytes.count {
      let candidates = secrets[Int(bytes[place])]
      if !candidates.isEmpty, let found = candidates.first(where: { bytes[place...].starts(with: $0) }) {
        if result == nil { result = Array(bytes[..<place]) }
        result?.append(contentsOf: Redaction.mask.utf8)
        place += found.count
      } else {
        result?.append(bytes[place])
        place += 1
      }
    }
    return result
  }
}

/// A set of bytes that is asked often.
private struct ByteSet: Sendable {
  private var isMember = [Bool](repeating: false, count: 256)
  /// The bytes themselves where there are three, as where there are no secrets.
  private let few: (UInt8, UInt8, UInt8)?

  init(_ bytes: [UInt8]) {
    for byte in bytes { isMember[Int(byte)] = true }
    few = bytes.count == 3 ? (bytes[0], bytes[1], bytes[2]) : nil
  }

  /// Whether a text has one of them; nearly all that a run tells is asked this.
  func meets(_ text: String) -> Bool {
    let found = unsafe text.utf8.withContiguousStorageIfAvailable { bytes in unsafe meets(bytes) }
    return found ?? text.utf8.contains { isMember[Int($0)] }
  }

  private func meets(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let few else {
      for place in 0..<bytes.count {
        if unsafe isMember[Int(bytes[place])] { return true }
      }
      return false
    }
    // Without an early exit, so that it is done many bytes at a time.
    var met: UInt8 = 0
    for place in 0..<bytes.count {
      let byte = unsafe bytes[place]
      met |= (byte == few.0 ? 1 : 0) | (byte == few.1 ? 1 : 0) | (byte == few.2 ? 1 : 0)
    }
    return met != 0
  }
}
