internal import FlowBase
internal import Glibc

/// What a broken decoder would do to the process.
enum Mishaps {
  static func happen(_ mishap: PictureJob.Mishap) {
    switch mishap {
    case .crash: abort()
    case .hang: while true { pause() }
    case .memory:
      // In pieces that are written to, so that a machine without limits is not brought down by one call.
      for _ in 0..<4096 {
        guard let piece = unsafe malloc(16 << 20) else { abort() }
        unsafe memset(piece, 1, 16 << 20)
      }
    }
  }
}
