import FlowBase
import FlowEvents

// How many ends of items a second become lines of the stream, on one thread, without anybody who reads them.

let count = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 1_000_000
let subject = ItemSubject(
  item: "products/A1", index: 16, total: 1000, url: "https://images.example.com/catalog/A1.jpg", source: "products")
var end = Payload.ItemEnd(status: .ok, attempts: 1, ratio: 1)
end.outputs = [
  Payload.Output(
    path: "products/a1/256.webp", leg: ["w": 256, "fmt": "webp"], media: "image/webp", bytes: 18231,
    sha256: String(repeating: "9f", count: 32), width: 256, height: 192)
]
end.stages = [Payload.StageTime(stage: "fetch", elapsed: .milliseconds(12))]

let clock = SystemTime()
let start = clock.now()
var buffer: [UInt8] = []
var bytes = 0
for seq in 0..<count {
  buffer.removeAll(keepingCapacity: true)
  let event = Event(
    seq: seq, time: clock.wall(), elapsed: clock.now() - start, run: "01JD8Z6Q5W", subject: subject,
    payload: .itemEnd(end))
  NDJSON.append(event, to: &buffer)
  bytes += buffer.count
}
let seconds = (clock.now() - start).seconds
print(
  "events encoded: \(decimal(Double(count) / seconds / 1e6, digits: 2)) M/s, "
    + "\(decimal(seconds / Double(count) * 1e6, digits: 2)) µs each, \(bytes / count) bytes each")
