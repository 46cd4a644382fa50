/// Sums and products of what people and servers may write down as they like.
extension Int {
  /// The sum, or the number nearest to it that there is.
  @inlinable
  public func addingSaturating(_ other: Int) -> Int {
    let (sum, overflowed) = addingReportingOverflow(other)
    return overflowed ? (other < 0 ? .min : .max) : sum
  }

  /// The product, or the number nearest to it that there is.
  public func multipliedSaturating(by other: Int) -> Int {
    let (product, overflowed) = multipliedReportingOverflow(by: other)
    return overflowed ? ((self < 0) == (other < 0) ? .max : .min) : product
  }
}
