internal import FlowBase

extension PictureReply {
  /// The reply as a message in pieces, so that large bytes are not copied once more.
  var message: [[UInt8]] {
    var writer = WireWriter()
    switch self {
    case .facts(let facts):
      writer.put("facts")
      writer.put(facts)
    case .pictures(let pictures):
      writer.put("pictures")
      writer.put(list: pictures) { writer, picture in
        writer.put(picture.facts)
        writer.put(picture.bytes.count)
      }
      return [writer.bytes] + pictures.map(\.bytes)
    case .hash(let hash):
      writer.put("hash")
      writer.put(Int(truncatingIfNeeded: hash))
    case .cell(let block):
      writer.put("cell")
      writer.put(block.width)
      writer.put(block.height)
      writer.put(block.bands)
      writer.put(block.bytes.count)
      return [writer.bytes, block.bytes]
    case .encoders(let formats):
      writer.put("encoders")
      writer.put(list: formats.sorted { $0.rawValue < $1.rawValue }) { $0.put($1) }
    case .fault(let fault):
      writer.put("fault")
      writer.put(fault.code)
      writer.put(fault.kind)
      writer.put(fault.message)
    }
    return [writer.bytes]
  }

  /// The reply that a message is.
  init(message: [UInt8]) throws(WireReader.Garbled) {
    var reader = WireReader(message)
    switch try reader.text() {
    case "facts": self = .facts(try reader.facts())
    case "pictures":
      let heads = try reader.list { (reader) throws(WireReader.Garbled) in (try reader.facts(), try reader.int()) }
      var pictures: [MadePicture] = []
      for (facts, count) in heads { pictures.append(MadePicture(bytes: try reader.raw(count), facts: facts)) }
      self = .pictures(pictures)
    case "hash": self = .hash(UInt64(bitPattern: Int64(try reader.int())))
    case "cell":
      self = .cell(
        PixelBlock(
          width: try reader.int(), height: try reader.int(), bands: try reader.int(), bytes: try reader.raw()))
    case "encoders": self = .encoders(Set(try reader.list { (reader) throws(WireReader.Garbled) in try reader.word() }))
    case "fault":
      self = .fault(Fault(try reader.text(), try reader.word(), try reader.text()))
    default: throw WireReader.Garbled()
    }
  }
}

extension WireWriter {
  fileprivate mutating func put(_ facts: PictureFacts) {
    put(facts.format)
    for number in [facts.width, facts.height, facts.pages, facts.orientation] { put(number) }
    put(facts.hasAlpha)
    put(facts.colourspace)
  }
}

extension WireReader {
  fileprivate mutating func facts() throws(Garbled) -> PictureFacts {
    let format = try word(PictureFormat.self)
    let (width, height, pages, orientation) = (try int(), try int(), try int(), try int())
    return PictureFacts(
      format: format, width: width, height: height, pages: pages, hasAlpha: try flag(), orientation: orientation,
      colourspace: try text())
  }
}
