internal import CPosix
internal import Glibc

/// The environment variables of the process.
public enum Environment {
  /// The value of a variable; nil where it is not set.
  public static func value(of name: String) -> String? {
    guard let text = unsafe getenv(name) else { return nil }
    return unsafe String(cString: text)
  }
}

/// Bytes that nobody can guess.
public enum Entropy {
  /// So many bytes.
  public static func bytes(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }

  /// So many characters of `0`-`9` and `a`-`z`.
  public static func token(_ count: Int) -> String {
    let digits = Array("0123456789abcdefghijklmnopqrstuvwxyz".utf8)
    var generator = SystemRandomNumberGenerator()
    return String(decoding: (0..<count).map { _ in digits[Int.random(in: 0..<36, using: &generator)] }, as: UTF8.self)
  }
}

/// This process and its machine.
public enum ThisProcess {
  /// Its number.
  public static var id: Int { Int(getpid()) }

  /// The machine's name.
  public static var host: String {
    var buffer = [CChar](repeating: 0, count: 256)
    guard unsafe gethostname(&buffer, 255) == 0 else { return "localhost" }
    return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// The permissions that are taken from those of new files.
  ///
  /// Read from the kernel's report, because `umask` can only be read by setting it, and other threads make files.
  public static var umask: Int {
    guard let report = try? FileSystem.read("/proc/self/status", limit: 65536) else { return 0o022 }
    for line in report.split(separator: UInt8(ascii: "\n")) where line.starts(with: "Umask:".utf8) {
      let digits = String(decoding: line.dropFirst(6), as: UTF8.self).drop { $0 == "\t" || $0 == " " }
      return Int(digits, radix: 8) ?? 0o022
    }
    return 0o022
  }

  /// How many files it may have open at once (`ulimit -n`).
  public static var openFileLimit: Int {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
    return Int(clamping: limit.rlim_cur)
  }
}
