internal import FlowBase

/// Does picture jobs in this process.
///
/// What a hostile picture does to a decoder it does to the process: where that matters, jobs go to `PictureWorkers`.
public enum PictureEngine {
  /// Does a job; whatever goes wrong is the reply.
  public static func perform(_ job: PictureJob) -> PictureReply {
    do {
      return try reply(to: job)
    } catch let fault as Fault {
      return .fault(fault)
    } catch {
      return .fault(.internal("picture", "\(error)"))
    }
  }

  private static func reply(to job: PictureJob) throws -> PictureReply {
    switch job.wish {
    case .mishap(let mishap):
      Mishaps.happen(mishap)
      return .fault(.internal("mishap", "\(mishap.rawValue) did not happen"))
    case .encoders:
      try VipsLibrary.require()
      return .encoders(Capabilities.encoders())
    case .sheet(let sheet, let encoding):
      guard case .path(let path) = job.input else { return .fault(.internal("picture", "a sheet lies in a file")) }
      return .pictures([try SheetPainter.sheet(sheet, at: path, encoding)])
    default: break
    }
    let source = try PictureSource(job.input, loaders: job.reading.loaders)
    let fast = JPEGPath.pictures(of: job, source)
    if let pictures = fast.whole { return .pictures(pictures) }
    try VipsLibrary.require()
    // What an earlier picture's decoder complained of without failing is not this one's cause.
    VipsFailure.forget()
    let decoder = Decoder(source: source, options: job.reading)
    let isUntrusted = !PictureFormat.trusted.contains(source.format)
    if isUntrusted { VipsLibrary.allow(source.format, true) }
    defer { if isUntrusted { VipsLibrary.allow(source.format, false) } }
    // The images read from the bytes, and the compiler does not know.
    return try withExtendedLifetime(source.bytes) {
      do {
        return try reply(to: job.wish, decoder, made: fast)
      } catch let failure as VipsFailure {
        throw source.fault(failure)
      }
    }
  }

  private static func reply(
    to wish: PictureJob.Wish, _ decoder: Decoder, made: [MadePicture?]
  ) throws -> PictureReply {
    switch wish {
    case .facts(let isFull): return .facts(isFull ? try decoder.checkedFacts() : try decoder.facts())
    case .pictures(let branches):
      let left = branches.indices.filter { !made.indices.contains($0) || made[$0] == nil }
      var rest = try Renderer(decoder: decoder).render(left.map { branches[$0] })[...]
      return .pictures(branches.indices.compactMap { left.contains($0) ? rest.popFirst() : made[$0] })
    case .hash: return .hash(try PerceptualHash.of(decoder))
    case .cell(let cell): return .cell(try SheetPainter.cell(cell, decoder))
    case .sheet, .encoders, .mishap: return .fault(.internal("picture", "no picture is needed for this"))
    }
  }
}

/// Makes pictures of a decoded one.
struct Renderer {
  let decoder: Decoder

  func render(_ branches: [PictureBranch]) throws -> [MadePicture] {
    let origin = decoder.source.format
    let encoders = branches.map { Encoder(options: $0.encoding, origin: origin) }
    let keepsProfile = branches.contains { $0.encoding.keepsProfile }
    var decoded: [Bool: Frames] = [:]
    var pictures: [MadePicture] = []
    for (branch, encoder) in zip(branches, encoders) {
      // Formats of one frame are made of one frame.
      let isAnimated = encoder.format.isAnimated
      if decoded[isAnimated] == nil {
        let sharing = branches.indices.filter { encoders[$0].format.isAnimated == isAnimated }
        var frames = try decoder.frames(animated: isAnimated, keepsProfile: keepsProfile) { size in
          sharing.map { Renderer.shrink(of: branches[$0], size) }.min() ?? 1
        }
        // What is read more than once is decoded once.
        if sharing.count > 1 { try frames.load() }
        decoded[isAnimated] = frames
      }
      guard var frames = decoded[isAnimated] else { continue }
      try Renderer.apply(branch.operations, to: &frames)
      if branch.operations.isEmpty { try frames.settleSize() }
      pictures.append(try encoder.encode(frames))
    }
    try decoder.checkEnd()
    return pictures
  }

  /// By how much a branch shrinks the picture before it does anything else.
  private static func shrink(of branch: PictureBranch, _ size: PictureSize) -> Double {
    guard case .resize(let resize)? = branch.operations.first else { return 1 }
    return ([resize] + branch.beside).map {
      $0.kernel == .nearest ? 1 : ResizePlan($0, of: size).shrink(of: size)
    }.min() ?? 1
  }

  private static func apply(_ operations: [PictureOperation], to frames: inout Frames) throws {
    for operation in operations {
      switch operation {
      case .resize(let resize): try frames.resize(resize)
      case .crop(let crop): try frames.crop(crop)
      case .rotate(let degrees, let background): try frames.rotate(degrees: degrees, background: background)
      case .monochrome(let colour, let intensity): try frames.monochrome(colour, intensity: intensity)
      case .tiltShift(let shift): try frames.tiltShift(shift)
      case .roundCorners(let radius): try frames.roundCorners(radius)
      case .blur(let sigma): try frames.blur(sigma: sigma)
      case .sharpen(let sigma): try frames.sharpen(sigma: sigma)
      }
    }
  }
}

/// What this machine can write, found by trying.
enum Capabilities {
  static func encoders() -> Set<PictureFormat> {
    let tiny = PixelBlock(width: 16, height: 16, bands: 3, bytes: Array(repeating: 128, count: 768))
    let formats = PictureFormat.allCases.filter { format in
      guard format.kept == format, VipsLibrary.has(format.saver), let image = try? VipsImage(tiny) else { return false }
      guard let srgb = try? image.marked(as: .srgb) else { return false }
      var options = EncodeOptions()
      options.format = format
      return (try? Encoder(options: options, origin: .png).encode(Frames(images: [srgb], size: PictureSize(16, 16))))
        != nil
    }
    VipsFailure.forget()
    return Set(formats)
  }
}
