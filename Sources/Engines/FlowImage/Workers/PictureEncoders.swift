public import FlowBase

/// What this machine can write.
public enum PictureEncoders {
  /// Fails, naming the package to install, where a format cannot be written here.
  ///
  /// libvips itself brings all formats but those of HEIF; only for these a worker is asked, once, and the caller waits.
  public static func require(_ format: PictureFormat) throws(Fault) {
    guard format == .avif || format == .heic || format == .jxl else { return }
    guard let known = try asked.get(), !known.contains(format) else { return }
    throw Fault(
      "image.encoder", .config,
      "`\(format.rawValue)` cannot be written on this machine; \(EncoderPackages.hint(for: format))")
  }

  /// The formats; nil where nobody could say.
  private static let asked: Result<Set<PictureFormat>?, Fault> = {
    let job = PictureJob(.bytes([]), wish: .encoders)
    let reply: PictureReply
    if let program = PictureProgram.find() {
      let words = [PictureProgram.verb, "\(ThisProcess.id)", "\(1 << 30)"]
      guard
        let process = try? ChildProcess(
          program, words, environment: PictureProgram.environment, keepsErrors: false),
        let answer = ask(job, process)
      else { return .success(nil) }
      reply = answer
    } else {
      reply = PictureEngine.perform(job)
    }
    switch reply {
    case .encoders(let formats): return .success(formats)
    case .fault(let fault): return .failure(fault)
    default: return .success(nil)
    }
  }()

  private static func ask(_ job: PictureJob, _ process: ChildProcess) -> PictureReply? {
    let deadline = SystemTime().now() + .seconds(20)
    guard (try? process.channel.receive(until: deadline)) == Array(PictureProgram.greeting.utf8),
      (try? process.channel.send(job.message, until: deadline)) != nil,
      let message = try? process.channel.receive(until: deadline)
    else { return nil }
    return try? PictureReply(message: message)
  }
}
