internal import FlowBase
internal import FlowImage

/// Joins what is to be made of one picture at the same time, so that it is decoded once.
///
/// Legs of one item come at nearly the same time. The first waits a moment for the others, and while it waits for a free
/// worker they join as well; who comes later is made by itself, and gives the same bytes.
final class PictureBatches: Sendable {
  private struct Key: Hashable {
    var place: String
    var reading: ReadOptions
    var beside: [Resize]
    /// Colours are kept in the file's profile for all that are made of one decoding, or for none.
    var keepsProfile: Bool
  }

  private let open = Guarded<[Key: PictureBatch]>([:])
  /// How long the first waits for the others.
  private static let patience = UInt64(2_000_000)

  /// Makes a picture, together with others of the same place.
  func make(
    _ branch: PictureBranch, of input: PictureJob.Input, named place: String, _ reading: ReadOptions,
    among legs: Int, by workers: PictureWorkers
  ) async throws(Fault) -> MadePicture {
    let key = Key(
      place: place, reading: reading, beside: branch.beside, keepsProfile: branch.encoding.keepsProfile)
    let (batch, place) = open.withLock { open -> (PictureBatch, Int) in
      if let batch = open[key], let place = batch.join(branch) { return (batch, place) }
      let batch = PictureBatch(input, reading, wanted: legs)
      open[key] = batch
      return (batch, batch.join(branch) ?? 0)
    }
    if place == 0 {
      batch.start { [open] in
        await batch.fill(within: PictureBatches.patience)
        let reply: Result<[MadePicture], Fault>
        do throws(Fault) {
          let made = try await workers.perform(making: {
            open.withLock { open in
              if open[key] === batch { open[key] = nil }
            }
            return batch.close()
          })
          guard case .pictures(let pictures) = made else { throw .internal("picture", "a worker gave no pictures") }
          reply = .success(pictures)
        } catch {
          open.withLock { open in
            if open[key] === batch { open[key] = nil }
          }
          _ = batch.close()
          reply = .failure(error)
        }
        batch.finish(reply)
      }
    }
    switch await batch.result(of: place) {
    case .success(let picture): return picture
    case .failure(let fault):
      // What one cannot be is no reason for the others, unless the picture itself is.
      let isOfAll = ["image.timeout", "image.truncated", "image.corrupt", "image.unsupported"].contains(fault.code)
      // Others' leaving is no reason either.
      let isOthers = fault.kind == .cancelled
      if Task.isCancelled || !isOthers && (batch.count == 1 || isOfAll) { throw fault }
      let job = PictureJob(input, reading: reading, wish: .pictures([branch]))
      guard case .pictures(let pictures) = try await workers.perform(job), let picture = pictures.first else {
        throw .internal("picture", "a worker gave no picture")
      }
      return picture
    }
  }
}

/// What is made of one picture in one job.
private final class PictureBatch: Sendable {
  private struct State {
    var branches: [PictureBranch] = []
    var isClosed = false
    var reply: Result<[MadePicture], Fault>?
    var waiting: [Int: CheckedContinuation<Result<MadePicture, Fault>, Never>] = [:]
    var left: Set<Int> = []
    var filling: CheckedContinuation<Void, Never>?
    /// Whether nobody is waited for any more.
    var isDue = false
    var task: Task<Void, Never>?
  }

  private let state = Guarded(State())
  private let input: PictureJob.Input
  private let reading: ReadOptions
  private let wanted: Int

  init(_ input: PictureJob.Input, _ reading: ReadOptions, wanted: Int) {
    self.input = input
    self.reading = reading
    self.wanted = wanted
  }

  /// How many have joined.
  var count: Int { state.withLock { $0.branches.count } }

  /// A place in the batch; nil where its work has begun.
  func join(_ branch: PictureBranch) -> Int? {
    let (place, filling) = state.withLock { state -> (Int?, CheckedContinuation<Void, Never>?) in
      if state.isClosed { return (nil, nil) }
      state.branches.append(branch)
      guard state.branches.count >= wanted else { return (state.branches.count - 1, nil) }
      defer { state.filling = nil }
      return (state.branches.count - 1, state.filling)
    }
    filling?.resume()
    return place
  }

  /// Does the work, for as long as anybody waits for it.
  func start(_ body: @escaping @Sendable () async -> Void) {
    let task = Task { await body() }
    state.withLock { $0.task = task }
  }

  /// Returns when all have joined, or after a while.
  func fill(within nanoseconds: UInt64) async {
    let timer = Task {
      try? await Task.sleep(nanoseconds: nanoseconds)
      let filling = state.withLock { state -> CheckedContinuation<Void, Never>? in
        state.isDue = true
        defer { state.filling = nil }
        return state.filling
      }
      filling?.resume()
    }
    await withCheckedContinuation { continuation in
      let isFull = state.withLock { state in
        if state.isDue || state.branches.count >= wanted { return true }
        state.filling = continuation
        return false
      }
      if isFull { continuation.resume() }
    }
    timer.cancel()
  }

  /// The job; nobody joins any more.
  func close() -> PictureJob {
    let branches = state.withLock { state in
      state.isClosed = true
      return state.branches
    }
    return PictureJob(input, reading: reading, wish: .pictures(branches))
  }

  func finish(_ reply: Result<[MadePicture], Fault>) {
    let waiting = state.withLock { state in
      state.reply = reply
      defer { state.waiting = [:] }
      return state.waiting
    }
    for (place, continuation) in waiting { continuation.resume(returning: PictureBatch.part(place, of: reply)) }
  }

  /// What came of the branch at a place; who is cancelled leaves, and the last who leaves ends the work.
  func result(of place: Int) async -> Result<MadePicture, Fault> {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let known = state.withLock { state -> Result<MadePicture, Fault>? in
          if let reply = state.reply { return PictureBatch.part(place, of: reply) }
          if state.left.contains(place) { return .failure(Fault(CancellationError())) }
          state.waiting[place] = continuation
          return nil
        }
        if let known { continuation.resume(returning: known) }
      }
    } onCancel: {
      let (waiter, task) = state.withLock {
        state -> (CheckedContinuation<Result<MadePicture, Fault>, Never>?, Task<Void, Never>?) in
        state.left.insert(place)
        let isLast = state.left.count == state.branches.count
        // Who comes now must not join what is being given up.
        if isLast { state.isClosed = true }
        return (state.waiting.removeValue(forKey: place), isLast ? state.task : nil)
      }
      waiter?.resume(returning: .failure(Fault(CancellationError())))
      task?.cancel()
    }
  }

  private static func part(_ place: Int, of reply: Result<[MadePicture], Fault>) -> Result<MadePicture, Fault> {
    switch reply {
    case .success(let pictures) where pictures.indices.contains(place): .success(pictures[place])
    case .success: .failure(.internal("picture", "a worker gave too few pictures"))
    case .failure(let fault): .failure(fault)
    }
  }
}
