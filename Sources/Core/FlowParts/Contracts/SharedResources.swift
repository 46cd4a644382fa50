public import FlowBase

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
}
