internal import FlowBase
internal import FlowBuiltins
internal import FlowEvents
internal import FlowParts
internal import FlowRun
internal import FlowStore

/// The live page of runs from the command line: one page, also where the run is started again from it.
final class RunPage: Sendable {
  private enum Wish: Sendable { case start, leave }
  private struct Waiting {
    /// Whether the program is to end, whoever taps.
    var isLeaving = false
    /// Whether a tap counts that comes before anybody waits for it, and whether one has come.
    var isExpected = false
    var isTapped = false
    var waiter: CheckedContinuation<Wish, Never>?
  }

  /// Whether the run waits for a tap, and the page stays when it is over.
  let isHeld: Bool
  private let host: PageHost
  private let waiting = Guarded(Waiting())

  /// A page where the command line asks for one; nil where it does not.
  init?(_ arguments: ParsedArguments, _ runner: Runner) throws {
    guard ["page", "page-listen", "page-hold"].contains(where: arguments.has) else { return nil }
    isHeld = arguments.has("page-hold")
    host = try PageHost(
      runner.sinkContext("page"), try RunPage.options(arguments.value("page-listen"), flag: "--page-listen"))
  }

  /// How a page is set up.
  static func options(_ place: String?, flag: String) throws -> PageHost.Options {
    var options = PageHost.Options()
    options.advice = { CodeReference.entry($0)?.remedy }
    do throws(Fault) {
      if let place { options.place = try PagePlace(parsing: place) }
    } catch {
      throw UsageError("\(flag): \(error.message)", hint: "such as `\(flag) 127.0.0.1:8080`")
    }
    return options
  }

  /// The address that opens the page.
  var address: String { host.address }

  /// Lets the page follow a run.
  func listener(_ runner: Runner) -> Listener { Listener("page", PageSink(host, runner.sinkContext("page"))) }

  /// From now on a tap counts; before anybody is told where to tap.
  func expectTap() {
    waiting.withLock { $0.isExpected = true }
    host.offerStart { [weak self] in self?.tap() ?? false }
  }

  /// Waits until somebody taps the ring; false where the program is to end instead.
  func waitForTap() async -> Bool {
    let wish = await withCheckedContinuation { continuation in
      let known = waiting.withLock { waiting -> Wish? in
        if waiting.isLeaving { return .leave }
        if waiting.isTapped { return .start }
        waiting.waiter = continuation
        return nil
      }
      if let known { continuation.resume(returning: known) }
    }
    waiting.withLock { ($0.isExpected, $0.isTapped) = (false, false) }
    host.offerStart(nil)
    return wish == .start
  }

  private func tap() -> Bool {
    let (waiter, counts) = waiting.withLock { waiting -> (CheckedContinuation<Wish, Never>?, Bool) in
      guard waiting.isExpected, !waiting.isTapped, !waiting.isLeaving else { return (nil, false) }
      waiting.isTapped = true
      return (waiting.waiter.take(), true)
    }
    waiter?.resume(returning: .start)
    return counts
  }

  /// Ends the waiting for a tap, now and later; tells whether somebody waited.
  func leave() -> Bool {
    let waiter = waiting.withLock { waiting in
      waiting.isLeaving = true
      return waiting.waiter.take()
    }
    waiter?.resume(returning: .leave)
    return waiter != nil
  }

  /// Tells the browsers the last, and ends.
  func stop() async { await host.stop() }

  // MARK: Pages of runs that go already, or are over

  /// Lets `imgflow page` open a page of a run that goes.
  static func open(for runner: Runner, journal: String) {
    let known = Guarded<String?>(nil)
    runner.onPage { [weak runner] place, state in
      if let address = known.withLock({ $0 }) { return address }
      guard let runner else { throw Fault("run.unknown", .permanent, "the run is over") }
      let context = runner.sinkContext("page")
      let host = try PageHost(context, try options(place, flag: "--page-listen"))
      let sink = PageSink(host, context, holdsBack: true)
      runner.attach(Listener("page", sink, endsWith: host))
      let reader = try JournalReader(path: journal)
      if let run = try reader.runs(prefix: runner.id).first {
        sink.release(after: try await JournalReplay(reader, run, state: state).events())
      } else {
        sink.release(after: [])
      }
      known.withLock { $0 = host.address }
      return host.address
    }
  }
}

extension Listener {
  /// A page that ends with the run.
  fileprivate init(_ name: String, _ sink: PageSink, endsWith host: PageHost) {
    self.init(name, sink)
    close = { await host.stop() }
  }
}
