import FlowBase
import FlowEvents
import FlowParts

/// The socket in a run's folder through which `imgflow ctl` asks for things: a line of JSON in, a line of JSON out.
final class ControlSocket: Sendable {
  private let listener: UnixSocket.Listener

  init(folder: String, answer: @escaping @Sendable (ControlRequest) async -> ControlAnswer) throws(Fault) {
    listener = try UnixSocket.listen(folder: folder, name: ControlWire.socketName)
    let listener = listener
    WorkerThread.start("control") {
      while let connection = listener.accept() {
        // A thread a conversation, since one who connects and says nothing must not keep others out.
        WorkerThread.start("control-peer") { ControlSocket.serve(connection, answer) }
      }
    }
  }

  func close() { listener.close() }

  private static func serve(
    _ connection: UnixSocket.Connection, _ answer: @escaping @Sendable (ControlRequest) async -> ControlAnswer
  ) {
    guard let line = connection.readLine(limit: 1 << 16) else { return }
    guard let request = ControlWire.request(from: line) else {
      let refusal = ControlAnswer(isAccepted: false, message: "this is no request", state: .active)
      return connection.write(ControlWire.bytes(of: refusal))
    }
    Task { connection.write(ControlWire.bytes(of: await answer(request))) }
  }
}
