public import FlowBase
public import FlowEvents

/// What a stage is given beside the leg: its configuration, and its ways to the disk and to the listeners.
public struct StageContext: Sendable {
  /// The stage's id in the manifest.
  public var stage: String
  /// The configuration, with every template evaluated for this leg, group or run.
  public var config: Config
  /// Which try this is, from 1.
  public var attempt: Int
  /// The run's ways to the disk and to what its stages share.
  public var services: any RunServices
  /// Whether only stages of the same kind take the result, so that the work may be left to the last of them.
  public var isFused = false
  /// The configurations of all legs of the stage that work on the same input, this one's too; nil where it is alone.
  public var siblings: (@Sendable () throws(Fault) -> [Config])?
  /// Tells how far the bytes have come, and how many they will be where that is known.
  public var progress: @Sendable (_ bytes: Int, _ size: Int?) -> Void
  /// The fields that an earlier run's result had, where it is to be found out whether that still holds.
  public var earlier: Fields?

  /// A context.
  public init(
    stage: String, config: Config, attempt: Int, services: any RunServices,
    progress: @escaping @Sendable (Int, Int?) -> Void = { _, _ in }
  ) {
    self.stage = stage
    self.config = config
    self.attempt = attempt
    self.services = services
    self.progress = progress
  }
}

/// What a run does for its stages.
public protocol RunServices: Sendable {
  /// What the manifest says of the run as a whole.
  var settings: RunSettings { get }
  /// Opens a new temporary file for bytes to come.
  func makePartial() throws(Fault) -> any PartialWriter
  /// A temporary file that an earlier run left, with the note that it made of it, where that is wanted.
  func takeUnfinished(where isWanted: (String) -> Bool) -> (file: any PartialWriter, note: String)?
  /// Whether earlier runs have left any; taking one reads it, which blocks.
  var hasUnfinished: Bool { get }
  /// Puts bytes under a final name below `output.dir`, wholly or not at all, and not before they are safe.
  ///
  /// A temporary file is moved there; what was published before is copied.
  func publish(_ content: Content, at path: String, options: PublishOptions) async throws(Fault) -> OutputFact
  /// Publishes as the other does, and says later what became of it, on any thread.
  ///
  /// Content that is still to be made is for the other.
  func publish(
    _ content: Content, at path: String, options: PublishOptions,
    done: @escaping @Sendable (Result<OutputFact, Fault>) -> Void)
  /// The one object of its type that all stages of the run share; made by the first that asks.
  func shared<Resource: Sendable>(_ type: Resource.Type, make: () throws(Fault) -> Resource) throws(Fault) -> Resource
  /// Calls back whenever the most bytes a second over all transfers is changed while the run goes; nil is no limit.
  func onBandwidthChange(_ change: @escaping @Sendable (Int?) -> Void)
  /// A file with the bytes of a digest, out of what earlier runs have kept; nil where there is none.
  func kept(_ digest: Digest) async throws(Fault) -> HeldFile?
  /// Whether anything is kept for later runs.
  var keepsContent: Bool { get }
  /// Keeps a file's bytes for later runs, where the manifest says where.
  func keep(_ file: HeldFile) async
  /// What a stage whose results are remembered has found of the items that earlier runs have finished.
  func remembered(of stage: String) -> any GatheringReader
  /// Whether nobody may be asked over the network.
  var isOffline: Bool { get }
  /// Threads for work that blocks.
  var blocking: BlockingPool { get }
  /// Makes an empty folder for files of a program; it goes with the run at the latest.
  func makeScratch() throws(Fault) -> String
  /// A text as it may be written down: without the run's secrets, and without what addresses tell of any.
  func redact(_ text: String) -> String
  /// Writes a line to the run's log.
  func log(_ level: LogLevel, _ message: String)
  /// Tells the listeners of something that concerns a program which works for the run.
  func tell(_ payload: Payload)
}

extension RunServices {
  /// Refuses: only a run has folders for programs.
  public func makeScratch() throws(Fault) -> String {
    throw .internal("scratch", "nothing is run here that would need a folder")
  }

  /// Tells nobody.
  public func tell(_ payload: Payload) {}

  /// Nothing is remembered.
  public func remembered(of stage: String) -> any GatheringReader { NothingGathered() }
}

extension RunServices {
  /// Takes out what addresses tell of secrets; none is known here.
  public func redact(_ text: String) -> String { Redaction.url(text) }

  /// Publishes in a task.
  public func publish(
    _ content: Content, at path: String, options: PublishOptions,
    done: @escaping @Sendable (Result<OutputFact, Fault>) -> Void
  ) {
    Task(executorPreference: blocking) {
      do throws(Fault) { done(.success(try await publish(content, at: path, options: options))) } catch {
        done(.failure(error))
      }
    }
  }

  /// No.
  public var hasUnfinished: Bool { false }
  /// None.
  public func takeUnfinished(where isWanted: (String) -> Bool) -> (file: any PartialWriter, note: String)? { nil }
  /// None: nothing is kept.
  public func kept(_ digest: Digest) async throws(Fault) -> HeldFile? { nil }
  /// No.
  public var keepsContent: Bool { false }
  /// Does nothing.
  public func keep(_ file: HeldFile) async {}
  /// No.
  public var isOffline: Bool { false }
  /// Never: nobody changes anything while it goes.
  public func onBandwidthChange(_ change: @escaping @Sendable (Int?) -> Void) {}
}

/// How loud a line of the log is.
public enum LogLevel: String, Sendable, Hashable, CaseIterable {
  case debug, info, warn, error
}

/// What to do about a file that is there already and that this run has not made.
public enum OnExists: String, Sendable, Hashable, CaseIterable {
  /// What the journal knows and finds unchanged stays; anything else is written anew.
  case keep
  /// Whatever is there stays.
  case skip
  /// It is replaced.
  case overwrite
  /// The item fails.
  case fail
}

/// How a file is published.
public struct PublishOptions: Sendable, Hashable {
  /// What to do about a file that is there already.
  public var onExists: OnExists
  /// The file's permissions; nil follows the umask.
  public var mode: Int?
  /// The item's name and the leg, for messages about collisions.
  public var owner: String
  /// The media type, where known; it is only remembered.
  public var media: String?

  /// Options.
  public init(onExists: OnExists = .keep, mode: Int? = nil, owner: String, media: String? = nil) {
    self.onExists = onExists
    self.mode = mode
    self.owner = owner
    self.media = media
  }
}

/// A temporary file that takes bytes and becomes an item's content.
public protocol PartialWriter: ByteSink, Sendable {
  /// Forgets what was written, for another try from the start.
  func restart() throws(Fault)
  /// How many bytes it holds.
  var count: Int { get }
  /// Ends the file: digest and length are known, and the content can be handed on.
  func finish() throws(Fault) -> HeldFile
  /// Removes the file.
  func abandon()
  /// Notes what a later run needs to go on with the file.
  func remember(_ note: String) throws(Fault)
  /// Leaves the file to a later run if something was noted of it; else removes it.
  func leave()
}

extension PartialWriter {
  /// Nothing is noted.
  public func remember(_ note: String) throws(Fault) {}
  /// Removes the file.
  public func leave() { abandon() }
}
