import FlowBase
import FlowEvents
import FlowGraph
import FlowParts
import FlowPlan

/// How far a source has come.
struct FeedState {
  var id: String
  /// Items asked for and not yet there.
  var outstanding = 0
  /// The number of its items, where known.
  var total: Int?
  /// Items that were admitted.
  var items = 0
  var duplicates = 0
  /// From where it would have to be asked again.
  var trail = CursorTrail()
  /// Whether it has said its last word, and whether that has been told.
  var hasEnded = false
  var isTold = false
  var demands: AsyncStream<Int>.Continuation?
  var task: Task<Void, Never>?

  init(id: String) { self.id = id }

  /// How many items it gives, those left out that come twice; nil while that is not known.
  var expected: Int? { (isTold ? items : total).map { max(0, $0 - (isTold ? 0 : duplicates)) } }
}

/// The sources: asking for items in turn, and hearing what comes.
extension RunLoop {
  func openSources() {
    // Beyond that, descriptors are worth more than threads.
    let past =
      refetches || store.run == 1 ? nil : try? PastReaders(store, fingerprints, threads: min(4, OwnProcess.processors))
    for (number, source) in plan.sources.enumerated() {
      if !options.only.isEmpty, !options.only.contains(source.id) {
        feeds[number].hasEnded = true
        feeds[number].isTold = true
        continue
      }
      let (stream, continuation) = AsyncStream<Int>.makeStream()
      feeds[number].demands = continuation
      let mailbox = mailbox
      var feed = SourceFeed(
        source: source, folder: plan.settings.folder, share: plan.sample,
        services: services.forLeg(item: 0, node: 0, mayMove: false), tell: { mailbox.post(.tell($0)) },
        post: { mailbox.post(.source(number, $0)) })
      feed.resumption = resumption(of: number)
      if let resumption = feed.resumption {
        teller.log(
          .info,
          "source `\(source.id)` goes on where the last run was cut off, behind \(resumption.count) items that are done"
        )
      }
      feed.past = past
      feed.number = number
      feeds[number].task = Task(executorPreference: services.blocking) { [feed] in await feed.serve(stream) }
    }
    if feeds.allSatisfy(\.isTold) { tell(.sourcesEnded) }
  }

  func heard(from source: Int, _ news: SourceFeed.Letter) {
    switch news {
    case .opened(let total): feeds[source].total = total
    case .items where feeds[source].hasEnded: break
    case .items(let items):
      feeds[source].outstanding -= items.count
      if chosen.isComplete {
        for item in items where canTakeMore() { waitingItems.append((source, item)) }
      } else {
        chosen.add(items, from: source)
        unassigned += items.count
      }
    case .ended: feeds[source].hasEnded = true
    case .failed where feeds[source].hasEnded: break
    case .failed(let fault) where fault.kind == .cancelled: feeds[source].hasEnded = true
    case .failed(let fault):
      feeds[source].hasEnded = true
      errorCodes[fault.code, default: 0] += 1
      teller.log(.error, "source `\(feeds[source].id)`: \(fault.message)")
      brokenSource = brokenSource ?? fault
      react(to: fault, stops: false)
    case .refused(let diagnostic):
      feeds[source].hasEnded = true
      teller.diagnostic(diagnostic)
      configFault = configFault ?? Fault("config.source", .config, diagnostic.message)
      stop(StopCause(by: "config.source", code: "cancelled.user"), .cancel)
    }
  }

  /// `take` of the manifest as a whole, or of the command line.
  private func canTakeMore() -> Bool {
    guard let limit = options.take ?? plan.take else { return true }
    guard taken < limit else { return false }
    taken += 1
    if taken == limit { endFeeds() }
    return true
  }

  private func endFeeds() {
    for number in feeds.indices {
      feeds[number].demands?.finish()
      feeds[number].task?.cancel()
      feeds[number].hasEnded = true
    }
  }

  /// Hands what the machine has asked for to the sources in turn.
  func assignDemand() {
    let unended = feeds.indices.filter { !feeds[$0].hasEnded }
    let open = unended.filter { !pauses.holds(.source(feeds[$0].id)) }
    if unended.isEmpty || machine.mode.isEnding {
      unassigned = 0
      return
    }
    reclaim()
    guard unassigned > 0, !open.isEmpty else { return }
    // Where items pass a stage in their order, one source comes after the other.
    let turns = plan.stages.contains(where: \.isOrdered) ? 1 : open.count
    let share = max(1, unassigned / turns)
    for offset in 0..<turns where unassigned > 0 {
      let number = turns == 1 ? open[0] : open[(nextFeed + offset) % open.count]
      // A source that says nothing for long holds its part of the window, and not that of the others.
      let count = min(share, unassigned, max(0, max(1, options.window / turns) - feeds[number].outstanding))
      guard count > 0 else { continue }
      feeds[number].outstanding += count
      unassigned -= count
      feeds[number].demands?.yield(count)
    }
    nextFeed += 1
  }

  /// What an ended source was asked for and has not given is asked of the others.
  private func reclaim() {
    for number in feeds.indices where feeds[number].hasEnded && feeds[number].outstanding > 0 {
      unassigned += feeds[number].outstanding
      feeds[number].outstanding = 0
    }
  }

  /// Draws the run's sample once every source has been read.
  func drawSample() {
    guard !chosen.isComplete, feeds.allSatisfy(\.hasEnded) else { return }
    for (source, item) in chosen.draw() where canTakeMore() { waitingItems.append((source, item)) }
  }

  /// Tells the end of sources whose last item has been admitted.
  func endSources() {
    guard waitingItems.isEmpty, chosen.isComplete else { return }
    for number in feeds.indices where feeds[number].hasEnded && !feeds[number].isTold {
      feeds[number].isTold = true
      // Failed items have their numbers among all.
      if options.failedOnly == nil { feeds[number].total = feeds[number].items }
      // What a run over a part of the items has seen says nothing of what the source gives.
      if store.gathersSince == nil {
        store.sourceEnded(number, items: feeds[number].items, duplicates: feeds[number].duplicates)
      }
      teller.sourceEnd(
        Payload.SourceEnd(
          source: feeds[number].id, items: feeds[number].items, duplicates: feeds[number].duplicates))
      if feeds.allSatisfy(\.isTold) { tell(.sourcesEnded) }
    }
    perform()
  }

  /// No source is asked for anything any more.
  func closeSources() {
    for number in feeds.indices {
      feeds[number].demands?.finish()
      feeds[number].task?.cancel()
    }
  }

  /// The items of all sources; nil while one has more to give.
  var totalItems: Int? {
    var sum = madeTotal
    for place in feeds.indices {
      guard let total = feeds[place].expected else { return nil }
      let next = sum.addingReportingOverflow(total)
      if next.overflow { return nil }
      sum = next.partialValue
    }
    return sum
  }
}
