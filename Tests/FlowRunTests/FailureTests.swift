import FlowBase
import FlowEvents
import FlowRun
import FlowTesting
import Testing

/// What fails, what is tried again, and what that means for the run.
@Suite struct FailureTests {
  private let quick = "retry: { attempts: 3, backoff: 1ms..3ms }"

  @Test func `What passes is tried again, and every request is an attempt of the events`() async throws {
    let scene = try Scene { request in request.attempt < 3 ? .status(500) : .ok("at last") }
    let trial = try await scene.run(
      """
      sources: [{ urls: \(String.addresses(2)) }]
      stages:
        - fetch: {}
          \(quick)
        - store: "${item.key}"
      """)
    #expect(trial.exit == .done)
    #expect(scene.server.requests.count == 6)
    for key in ["k1", "k2"] {
      #expect(trial.end(key)?.attempts == 3)
      let attempts = trial.events(.itemRetry, key).map { event -> Int in
        if case .itemRetry(let retry) = event.payload { retry.attempt } else { 0 }
      }
      #expect(attempts == [1, 2])
      #expect(scene.output(key) == "at last")
    }
  }

  @Test func `A second try that fails as well ends the item, and the run may be tried again`() async throws {
    let scene = try Scene { _ in .status(500) }
    let trial = try await scene.run(
      """
      sources: [{ urls: \(String.addresses(1)) }]
      stages:
        - fetch: {}
          \(quick)
        - store
      """)
    #expect(trial.exit == .tryAgain)
    #expect(scene.server.requests.count == 3)
    #expect(trial.end("k1")?.attempts == 3)
    #expect(trial.end("k1")?.error?.fault.code == "http.500")
    #expect(trial.count(.itemRetry) == 2)
    #expect(trial.count(.itemError) == 1)
    #expect(trial.outcome.end.errors == [CodeCount(code: "http.500", count: 1)])
  }

  @Test func `What is not there fails alone and is asked for once`() async throws {
    let scene = try Scene { $0.path == "/2" ? .status(404) : .ok("x") }
    let trial = try await scene.run(
      """
      sources: [{ urls: \(String.addresses(3)) }]
      stages: [fetch, { store: "${item.key}" }]
      """)
    #expect(trial.exit == .failed)
    #expect(trial.ends.mapValues(\.status) == ["urls/k1": .ok, "urls/k2": .failed, "urls/k3": .ok])
    #expect(scene.asked == ["/1", "/2", "/3"])
    #expect(scene.outputs == ["k1", "k3"])
    #expect(trial.end("k2")?.outputs == [])
  }

  @Test func `Only the classes that are named are tried again`() async throws {
    let scene = try Scene { $0.attempt == 1 ? .status(404) : .ok("x") }
    let trial = try await scene.run(
      """
      sources: [{ urls: \(String.addresses(1)) }]
      stages:
        - fetch: {}
          retry: { attempts: 2, backoff: 1ms, classes: [permanent] }
      """)
    #expect(trial.exit == .done)
    #expect(scene.server.requests.count == 2)
  }

  @Test(arguments: [
    ("fail", ItemStatus.failed, ExitCode.failed), ("drop", .filtered, .done), ("use_input", .ok, .done),
  ])
  func `What happens to an item whose stage fails is the stage's to say`(
    word: String, status: ItemStatus, exit: ExitCode
  ) async throws {
    let scene = try Scene()
    let trial = try await scene.run(
      """
      sources: [{ urls: \(String.addresses(2)) }]
      stages:
        - fetch
        - id: check
          verify: { size: 12 }
          on_error: \(word)
        - store: "${item.key}"
      """)
    // "bytes of /1" is 11 bytes long, so that both fail.
    #expect(trial.ends.values.map(\.status) == [status, status])
    #expect(trial.exit == exit)
    #expect(scene.outputs == (status == .ok ? ["k1", "k2"] : []))
  }

  @Test func `Later stages know what failed before them`() async throws {
    let scene = try Scene()
    let trial = try await scene.run(
      """
      sources: [{ urls: \(String.addresses(1)) }]
      stages:
        - fetch
        - id: check
          verify: { size: 12 }
          on_error: use_input
        - write: { path: "note.txt", text: "${item.errors.check}" }
      """)
    #expect(trial.exit == .done)
    #expect(scene.output("note.txt") == "verify.size")
  }

  @Test func `A stage that stops the run cancels what is left`() async throws {
    let scene = try Scene { $0.path == "/1" ? .status(404) : .ok("x") }
    let trial = try await scene.run(
      """
      sources: [{ urls: \(String.addresses(40)) }]
      stages:
        - fetch: {}
          concurrency: 1
          on_error: stop
      """)
    #expect(trial.exit == .failed)
    #expect(trial.items.failed == 1)
    #expect(trial.items.cancelled > 0)
    #expect(scene.server.requests.count < 40)
  }

  @Test func `A run is stopped as soon as its condition holds`() async throws {
    let scene = try Scene { _ in .status(404) }
    let trial = try await scene.run(
      """
      sources: [{ urls: \(String.addresses(100)) }]
      stages:
        - fetch: {}
          concurrency: 1
      stop_if: run.failed > 2
      """)
    #expect(trial.exit == .failed)
    #expect(trial.outcome.end.result == .cancelled)
    #expect(trial.items.failed >= 3)
    #expect(trial.items.failed < 100)
    #expect(trial.ends.values.contains { $0.reason == "cancelled.stop_if" })
  }

  @Test(arguments: [("run.failed_ratio > 0.5", ExitCode.done), ("run.failed_ratio > 0.2", .failed)])
  func `How many may fail is judged at the end`(condition: String, exit: ExitCode) async throws {
    let scene = try Scene { $0.path == "/1" ? .status(404) : .ok("x") }
    let trial = try await scene.run(
      """
      sources: [{ urls: \(String.addresses(3)) }]
      stages: [fetch]
      fail_if: \(condition)
      """)
    #expect(trial.exit == exit)
    #expect(trial.items.failed == 1)
  }

  @Test func `An empty run fails where the manifest says so`() async throws {
    let scene = try Scene()
    let empty = "sources: [{ urls: [] }]\nstages: [fetch]\n"
    #expect(try await scene.run(empty).exit == .done)
    #expect(try await scene.run(empty + "fail_if: run.items == 0\n").exit == .failed)
  }

  @Test func `A try that takes too long is given up and made again`() async throws {
    let scene = try Scene { $0.attempt == 1 ? .silence : .ok("x") }
    let trial = try await scene.run(
      """
      sources: [{ urls: \(String.addresses(1)) }]
      stages:
        - fetch: {}
          timeout: 1s
          retry: { attempts: 20, backoff: 1ms }
        - store: "${item.key}"
      """)
    #expect(trial.exit == .done)
    #expect((trial.end("k1")?.attempts ?? 0) >= 2)
    #expect(scene.output("k1") == "x")
  }

  @Test func `All tries together end with the stage's deadline`() async throws {
    let scene = try Scene { _ in .silence }
    let trial = try await scene.run(
      """
      sources: [{ urls: \(String.addresses(1)) }]
      stages:
        - fetch: {}
          timeout: 150ms
          deadline: 400ms
          retry: { attempts: 100, backoff: 1ms }
      """)
    #expect(trial.end("k1")?.status == .failed)
    #expect(trial.end("k1")?.error?.fault.code == "net.timeout.total")
    // A hundred tries would take fifteen seconds, on a calm machine.
    #expect(scene.server.requests.count <= 4)
    #expect(trial.outcome.elapsed < .seconds(15))
  }

  @Test func `A run that takes too long is cut off`() async throws {
    let scene = try Scene { _ in .silence }
    let trial = try await scene.run(
      "sources: [{ urls: \(String.addresses(3)) }]\nstages: [fetch]",
      options: { $0.deadline = .milliseconds(100) })
    #expect(trial.exit == .deadline)
    #expect(trial.outcome.end.result == .timeout)
    #expect(trial.ends.values.allSatisfy { $0.reason == "cancelled.deadline" })
  }

  @Test func `A run that ends before its deadline is a success`() async throws {
    let scene = try Scene()
    let trial = try await scene.run(
      "sources: [{ urls: \(String.addresses(3)) }]\nstages: [fetch]", options: { $0.deadline = .seconds(60) })
    #expect(trial.exit == .done)
    #expect(trial.outcome.elapsed < .seconds(30))
  }
}
