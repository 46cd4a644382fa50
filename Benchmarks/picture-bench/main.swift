import FlowBase
import FlowImage

// Makes each of some JPEG files smaller, in this process and in workers, and says how long a picture takes.
//
//   picture-bench in|apart WORKERS WIDTH QUALITY ROUNDS FILE…

let words = CommandLine.arguments
guard words.count > 6, let count = Int(words[2]), let width = Int(words[3]), let quality = Int(words[4]),
  let rounds = Int(words[5])
else {
  StandardStream.errors.write("usage: picture-bench in|apart WORKERS WIDTH QUALITY ROUNDS FILE…\n")
  ProcessFacts.exit(2)
}
var encoding = EncodeOptions()
encoding.quality = quality
let branch = PictureBranch([.resize(Resize(width: width, height: nil))], encoding: encoding)
let jobs = (0..<rounds).flatMap { _ in words[6...].map { PictureJob(.path($0), wish: .pictures([branch])) } }
let workers = PictureWorkers(count: count, program: words[1] == "in" ? nil : PictureProgram.find())
let clock = SystemTime()
let start = clock.now()
var bytes = 0
await withTaskGroup(of: Int.self) { group in
  func add(_ job: PictureJob) {
    group.addTask {
      guard case .pictures(let made) = try? await workers.perform(job) else { return 0 }
      return made.reduce(0) { $0 + $1.bytes.count }
    }
  }
  var next = 0
  while next < min(jobs.count, count * 2) {
    add(jobs[next])
    next += 1
  }
  for await made in group {
    bytes += made
    if next < jobs.count {
      add(jobs[next])
      next += 1
    }
  }
}
let spent = (clock.now() - start).milliseconds
let each = (spent / Double(jobs.count) * 1000).rounded() / 1000
StandardStream.output.write("\(jobs.count) pictures in \(spent) ms, \(each) ms each, \(bytes) bytes\n")
