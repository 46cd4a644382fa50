extension PictureBranch {
  /// What was asked for and is more than the picture has room for, in words; it was made as large as there is room.
  ///
  /// The size is that of the result: what was done before it was made smaller is not judged.
  public func excesses(in facts: PictureFacts) -> [String] {
    let shorter = Double(min(facts.width, facts.height))
    let last = operations.lastIndex { operation in
      switch operation {
      case .resize, .crop, .rotate: true
      default: false
      }
    }
    return operations[((last ?? -1) + 1)...].compactMap { operation in
      switch operation {
      case .roundCorners(.pixels(let radius)) where radius > shorter / 2:
        "corners of a radius of \(pixels(radius)) px do not fit into \(facts.width) x \(facts.height) px, and are made "
          + "with \(Int(shorter / 2)) px"
      case .tiltShift(let shift) where shift.radius > shorter:
        "a blur of \(pixels(shift.radius)) px is more than the picture of \(facts.width) x \(facts.height) px has, and is "
          + "made with \(Int(shorter)) px"
      default: nil
      }
    }
  }

  /// A number of pixels in words; one that is larger than any picture is cut there.
  private func pixels(_ count: Double) -> Int { Int(min(count, 1e9)) }
}
