public import FlowBase

/// A shared object that has something to do when its run ends, while the run's files are still its own.
public protocol EndsWithRun: Sendable {
  /// All stages have ended; another run may take the files over as soon as this returns.
  func runEnds()
}

/// One object of each type, made by the first who asks for it and shared by all who ask later.
public final class SharedResources: Sendable {
  private let made = Guarded<[ObjectIdentifier: any Sendable]>([:])

  /// None yet.
  public init() {}

  /// The one of its type; others who ask wait while it is made.
  public func shared<Resource: Sendable>(
    _ type: Resource.Type, make: () throws(Fault) -> Resource
  ) throws(Fault) -> Resource {
    try made.withLock { (made) throws(Fault) in
      if let known = made[ObjectIdentifier(type)] as? Resource { return known }
      let new = try make()
      made[ObjectIdentifier(type)] = new
      return new
    }
  }

  /// Lets those that have been made do what is to be done at the run's end.
  public func runEnds() {
    for resource in made.withLock({ Array($0.values) }) { (resource as? any EndsWithRun)?.runEnds() }
  }
}
