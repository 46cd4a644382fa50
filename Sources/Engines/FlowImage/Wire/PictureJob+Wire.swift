extension PictureJob {
  /// The job as a message: what it is, and behind it the picture's bytes where they are here.
  var message: [[UInt8]] {
    var writer = WireWriter()
    writer.put(reading)
    writer.put(wish)
    switch input {
    case .path(let path):
      writer.put(true)
      writer.put(path)
      return [writer.bytes]
    case .bytes(let bytes):
      writer.put(false)
      writer.put(bytes.count)
      // The bytes are not copied once more.
      return [writer.bytes, bytes]
    }
  }

  /// Equal for jobs that do the same, apart from where their bytes are.
  public var identity: [UInt8] {
    var writer = WireWriter()
    writer.put(reading)
    writer.put(wish)
    return writer.bytes
  }

  /// The job that a message is.
  init(message: [UInt8]) throws(WireReader.Garbled) {
    var reader = WireReader(message)
    reading = try reader.reading()
    wish = try reader.wish()
    input = try reader.flag() ? .path(try reader.text()) : .bytes(try reader.raw())
  }
}

extension WireWriter {
  fileprivate mutating func put(_ reading: ReadOptions) {
    put(reading.pixels)
    put(reading.frames)
    put(reading.metadata)
    put(list: reading.loaders.sorted { $0.rawValue < $1.rawValue }) { $0.put($1) }
    put(reading.strictness)
    put(reading.turns)
    put(reading.firstOnly)
  }

  fileprivate mutating func put(_ encoding: EncodeOptions) {
    put(encoding.format?.rawValue ?? "")
    put(optional: encoding.quality)
    put(encoding.lossless)
    put(encoding.progressive)
    put(encoding.strips)
    put(encoding.keepsProfile)
    put(encoding.chroma)
    put(optional: encoding.effort)
    put(encoding.background)
  }

  fileprivate mutating func put(_ wish: PictureJob.Wish) {
    switch wish {
    case .facts(let full):
      put("facts")
      put(full)
    case .pictures(let branches):
      put("pictures")
      put(list: branches) { writer, branch in
        writer.put(list: branch.operations) { $0.put($1) }
        writer.put(branch.encoding)
        writer.put(list: branch.beside) { $0.put(.resize($1)) }
      }
    case .hash: put("hash")
    case .cell(let cell):
      put("cell")
      put(cell.width)
      put(cell.height)
      put(cell.background)
      put(cell.label ?? "")
      put(cell.labelHeight)
    case .sheet(let sheet, let encoding):
      put("sheet")
      put(sheet.width)
      put(sheet.height)
      put(encoding)
    case .encoders: put("encoders")
    case .mishap(let mishap):
      put("mishap")
      put(mishap)
    }
  }
}

extension WireReader {
  fileprivate mutating func reading() throws(Garbled) -> ReadOptions {
    var reading = ReadOptions()
    reading.pixels = try int()
    reading.frames = try int()
    reading.metadata = try int()
    reading.loaders = Set(try list { (reader) throws(Garbled) in try reader.word() })
    reading.strictness = try word()
    reading.turns = try flag()
    reading.firstOnly = try flag()
    return reading
  }

  fileprivate mutating func encoding() throws(Garbled) -> EncodeOptions {
    var encoding = EncodeOptions()
    encoding.format = PictureFormat(rawValue: try text())
    encoding.quality = try optionalInt()
    encoding.lossless = try flag()
    encoding.progressive = try flag()
    encoding.strips = try flag()
    encoding.keepsProfile = try flag()
    encoding.chroma = try word()
    encoding.effort = try optionalInt()
    encoding.background = try colour()
    return encoding
  }

  fileprivate mutating func wish() throws(Garbled) -> PictureJob.Wish {
    switch try text() {
    case "facts": return .facts(full: try flag())
    case "pictures":
      return .pictures(
        try list { (reader) throws(Garbled) in
          PictureBranch(
            try reader.list { (reader) throws(Garbled) in try reader.operation() }, encoding: try reader.encoding(),
            beside: try reader.list { (reader) throws(Garbled) in
              guard case .resize(let resize) = try reader.operation() else { throw Garbled() }
              return resize
            })
        })
    case "hash": return .hash
    case "cell":
      var cell = SheetCell(width: try int(), height: try int(), background: try colour())
      let label = try text()
      cell.label = label.isEmpty ? nil : label
      cell.labelHeight = try int()
      return .cell(cell)
    case "sheet": return .sheet(PictureSheet(width: try int(), height: try int()), try encoding())
    case "encoders": return .encoders
    case "mishap": return .mishap(try word())
    default: throw Garbled()
    }
  }
}
