internal import FlowBase

/// The other side of `PictureWorkers`: takes jobs from standard input and answers there, until nobody asks any more.
public enum PictureWorker {
  /// Serves until the end; the words are those behind the verb.
  public static func main(_ words: [String]) -> Never {
    OwnProcess.leaveNoCore()
    if let parent = words.first.flatMap({ Int($0) }) { OwnProcess.dieWithParent(parent) }
    if let memory = words.dropFirst().first.flatMap({ Int($0) }) { OwnProcess.limitMemory(to: memory) }
    let channel = FrameChannel(.standardInput)
    do {
      try channel.send([Array(PictureProgram.greeting.utf8)])
      while true {
        let reply: PictureReply
        let message = try channel.receive()
        do {
          reply = PictureEngine.perform(try PictureJob(message: message))
        } catch {
          reply = .fault(.internal("picture", "the worker does not understand its job"))
        }
        try channel.send(reply.message)
      }
    } catch {
      ProcessFacts.exit(0)
    }
  }
}
