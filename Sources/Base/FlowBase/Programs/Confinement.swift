internal import CPosix
internal import Glibc

/// The bounds within which a program works that somebody else has written.
public struct Confinement: Sendable, Hashable {
  /// The most bytes of data that a process may have; nil does not bound it.
  public var memory: Int?
  /// Whether it may reach the network.
  public var allowsNetwork: Bool
  /// The folders below which it may write; nil does not bound it.
  public var writable: [String]?

  /// Bounds.
  public init(memory: Int? = nil, allowsNetwork: Bool = false, writable: [String]? = nil) {
    self.memory = memory
    self.allowsNetwork = allowsNetwork
    self.writable = writable
  }

  /// Whether this kernel can hold writes back.
  public static var canBoundWrites: Bool { imgflow_landlock_version() > 0 }

  /// Takes on the bounds and becomes the program; returns only where that fails.
  ///
  /// For a process that has no other purpose, before it starts any thread.
  public func become(_ words: [String]) -> Fault {
    _ = imgflow_die_with_parent()
    _ = imgflow_refuse_core_dumps()
    guard imgflow_refuse_privileges() == 0 else { return SystemFault.last("cannot give up privileges") }
    if let writable, let fault = bound(to: writable) { return fault }
    if !allowsNetwork, imgflow_refuse_network() != 0 { return SystemFault.last("cannot close the network") }
    if let memory, imgflow_limit_data(UInt64(memory)) != 0 { return SystemFault.last("cannot bound the memory") }
    var arguments: [UnsafeMutablePointer<CChar>?] = unsafe words.map { unsafe strdup($0) } + [nil]
    guard let program = words.first else { return .internal("launch", "there is no program") }
    unsafe execvp(program, &arguments)
    return Errno.last.fault("cannot start \(program)")
  }

  private func bound(to folders: [String]) -> Fault? {
    let version = imgflow_landlock_version()
    // An older kernel: the other bounds still hold.
    guard version > 0 else { return nil }
    let rules = imgflow_landlock_begin(version)
    guard rules >= 0 else { return SystemFault.last("cannot bound writes") }
    defer { close(rules) }
    for (path, isFolder) in folders.map({ ($0, true) }) + Confinement.sinks.map({ ($0, false) }) {
      let place = unsafe imgflow_open(path, FileSystem.OpenOptions.handle.rawValue, 0)
      guard place >= 0 else {
        if isFolder { return SystemFault.last("cannot open \(path)") }
        continue
      }
      defer { close(place) }
      guard imgflow_landlock_allow(rules, version, place, isFolder ? 1 : 0) == 0 else {
        return SystemFault.last("cannot allow writes to \(path)")
      }
    }
    return imgflow_landlock_enforce(rules) == 0 ? nil : SystemFault.last("cannot bound writes")
  }

  /// Devices that programs write to without leaving anything behind.
  private static let sinks = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"]
}
