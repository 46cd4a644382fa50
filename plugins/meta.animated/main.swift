// Counts the frames of GIF, PNG and WebP by walking their blocks: nothing is decoded.
// Written as an example for plugins in Swift; ./build.sh makes the program that plugin.yaml names.
import Foundation

func say(_ message: [String: Any]) {
  guard let data = try? JSONSerialization.data(withJSONObject: message) else { return }
  FileHandle.standardOutput.write(data + Data([0x0A]))
}

/// A picture's bytes, read within their bounds.
struct Bytes {
  let data: [UInt8]

  subscript(place: Int) -> Int { data.indices.contains(place) ? Int(data[place]) : 0 }
  var count: Int { data.count }
  func has(_ text: String, at place: Int) -> Bool {
    place + text.utf8.count <= data.count && Array(text.utf8) == Array(data[place..<place + text.utf8.count])
  }
  func big(_ place: Int) -> Int { self[place] << 24 | self[place + 1] << 16 | self[place + 2] << 8 | self[place + 3] }
  func little(_ place: Int) -> Int { self[place] | self[place + 1] << 8 | self[place + 2] << 16 | self[place + 3] << 24 }
}

func frames(_ bytes: Bytes) -> Int {
  if bytes.has("GIF8", at: 0) { return gif(bytes) }
  if bytes.has("PNG\r\n", at: 1) { return png(bytes) }
  if bytes.has("RIFF", at: 0), bytes.has("WEBP", at: 8) { return webp(bytes) }
  return 1
}

func gif(_ bytes: Bytes) -> Int {
  func table(_ flags: Int) -> Int { flags & 0x80 == 0 ? 0 : 3 << ((flags & 7) + 1) }
  var place = 13 + table(bytes[10])
  var count = 0
  while place < bytes.count {
    switch bytes[place] {
    case 0x2C:
      count += 1
      place += 11 + table(bytes[place + 9])
    case 0x21: place += 2
    default: return max(1, count)
    }
    // Blocks of data, each behind its length, up to one of length 0.
    while place < bytes.count, bytes[place] != 0 { place += 1 + bytes[place] }
    place += 1
  }
  return max(1, count)
}

func png(_ bytes: Bytes) -> Int {
  var place = 8
  while place + 8 <= bytes.count {
    if bytes.has("acTL", at: place + 4) { return max(1, bytes.big(place + 8)) }
    if bytes.has("IDAT", at: place + 4) { return 1 }
    place += 12 + bytes.big(place)
  }
  return 1
}

func webp(_ bytes: Bytes) -> Int {
  var place = 12
  var count = 0
  while place + 8 <= bytes.count {
    if bytes.has("ANMF", at: place) { count += 1 }
    let length = bytes.little(place + 4)
    place += 8 + length + length % 2
  }
  return max(1, count)
}

while let line = readLine() {
  guard let message = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] else { continue }
  switch message["t"] as? String {
  case "init": say(["t": "ready", "v": 1])
  case "item":
    let path = (message["in"] as? [String: Any])?["path"] as? String
    let id = message["id"] ?? 0
    if let path, let data = FileManager.default.contents(atPath: path) {
      let count = frames(Bytes(data: [UInt8](data)))
      say(["t": "result", "id": id, "status": "ok", "set": ["frames": count, "animated": count > 1]])
    } else {
      say(["t": "result", "id": id, "status": "error", "code": "input.missing", "message": "there is no file"])
    }
  case "ping": say(["t": "pong", "n": message["n"] ?? 0])
  case "drain": say(["t": "bye"])
  default: break
  }
}
