internal import FlowBase
internal import FlowEvents
internal import FlowParts
internal import FlowServe

/// The page's addresses, and what each of them answers.
struct PageAPI: Sendable {
  private let page = WebAnswer.bytes(PageMarkup.document, media: "text/html; charset=utf-8")
    .with("Content-Security-Policy", PageMarkup.policy)

  /// So many items are in one answer at most.
  static let mostItems = 500

  func answer(_ request: WebRequest, _ host: PageHost) -> WebReply {
    let path = request.path
    if path == "/api/control" { return control(request, host) }
    guard request.method == "GET" else {
      return .now(
        WebAnswer.refusal(405, "page.method", "\(path) answers GET only").with("Allow", "GET, HEAD"))
    }
    switch path {
    case "/": return .now(page)
    case "/api/run": return .now(json(host) { $0.writeRun(&$1) })
    case "/api/graph": return .now(json(host) { $0.writeGraph(&$1) })
    case "/api/items": return .now(items(request, host))
    case "/api/events": return events(request, host)
    case "/api/live":
      let last = request.header("last-event-id").flatMap { Int($0) }
      return .stream(stream, BeatStream(host: host, last: last))
    default: break
    }
    if let key = PageAPI.name(path, behind: "/api/item/") { return .now(item(key, host)) }
    if let key = PageAPI.name(path, behind: "/thumb/") { return thumbnail(key, request, host) }
    return .now(.refusal(404, "page.unknown", "there is nothing at this address"))
  }

  private var stream: WebAnswer {
    WebAnswer(
      200, headers: [.init("Content-Type", "text/event-stream"), .init("X-Accel-Buffering", "no")],
      body: Array("retry: 1000\n\n".utf8))
  }

  private func json(_ host: PageHost, _ write: (borrowing PageState, inout JSONWriter) -> Void) -> WebAnswer {
    var writer = JSONWriter()
    host.look { write($0, &writer) }
    return .json(writer.bytes + [0x0A])
  }

  /// An item's name, as it stands behind a path.
  static func name(_ path: String, behind prefix: String) -> String? {
    guard path.hasPrefix(prefix), path.utf8.count > prefix.utf8.count else { return nil }
    return PercentEncoding.decode(String(path.dropFirst(prefix.count)))
  }

  // MARK: Items

  private func items(_ request: WebRequest, _ host: PageHost) -> WebAnswer {
    var filter = PageItems.Filter()
    if let state = request.parameter("state"), !state.isEmpty {
      guard let known = ItemState(rawValue: state) else {
        return .refusal(
          400, "page.request",
          "`\(state)` is no state; items are \(ItemState.allCases.map(\.rawValue).joined(separator: ", "))")
      }
      filter.state = known
    }
    let named = { (name: String) in request.parameter(name).flatMap { $0.isEmpty ? nil : $0 } }
    filter.source = named("source")
    filter.stage = named("stage")
    filter.host = named("host")
    filter.code = named("code")
    filter.text = (request.parameter("q") ?? "").lowercased()
    guard let limit = number(request, "limit", 100), let offset = number(request, "offset", 0),
      let after = number(request, "after", -1)
    else { return .refusal(400, "page.request", "limit, offset and after are whole numbers from 0") }
    let most = min(max(1, limit), Self.mostItems)
    return json(host) { state, writer in
      if request.parameter("after") != nil {
        state.writeList(state.items.list(filter, after: after, limit: most), total: nil, &writer)
      } else {
        let (places, total) = state.items.list(filter, offset: offset, limit: most)
        state.writeList(places, total: total, &writer)
      }
    }
  }

  /// A number of the query; the usual one where it is missing, nil where it is none.
  private func number(_ request: WebRequest, _ name: String, _ usual: Int) -> Int? {
    guard let text = request.parameter(name), !text.isEmpty else { return usual }
    guard let number = Int(text), number >= 0, number <= Int(Int32.max) else { return nil }
    return number
  }

  private func item(_ name: String, _ host: PageHost) -> WebAnswer {
    var writer = JSONWriter()
    let isThere = host.look { state in
      guard let place = state.items.places[name] else { return false }
      state.writeItem(place, advice: host.options.advice, &writer)
      return true
    }
    return isThere
      ? .json(writer.bytes + [0x0A])
      : .refusal(404, "page.item", "no item of this name has appeared so far; names are source/key")
  }

  private func thumbnail(_ name: String, _ request: WebRequest, _ host: PageHost) -> WebReply {
    let missing = WebAnswer.refusal(404, "page.picture", "there is no picture of this item")
    // Only a file that the run itself has told of, under the name of its item, is ever looked at.
    let outputs: [Value]? = host.look { state in
      guard let place = state.items.places[name], state.items.entries[place].hasPicture,
        let end = state.shelf.newest(.itemEnd, from: state.items.entries[place].shelf),
        let event = (try? JSONReader.read(end))?.asMap
      else { return nil }
      return event["data"]?.asMap?["outputs"]?.asList
    }
    guard let outputs, let best = PagePicture.best(outputs, side: PageThumbnails.side) else { return .now(missing) }
    let tag = "\"\(best.digest.prefix(32))\""
    let lasting = WebRequest.Header("Cache-Control", "private, max-age=3600")
    if request.header("if-none-match") == tag {
      return .now(WebAnswer(304, headers: [.init("ETag", tag), lasting]))
    }
    let thumbnails = host.thumbnails
    return .later {
      guard let small = await thumbnails.picture(best.path, best.digest) else { return missing }
      var answer = WebAnswer.bytes(small.bytes, media: small.media).with("ETag", tag)
      answer.headers.append(lasting)
      return answer
    }
  }

  // MARK: Events

  private func events(_ request: WebRequest, _ host: PageHost) -> WebReply {
    let globs = request.query.filter { $0.name == "types" }.flatMap { $0.value.split(separator: ",").map(String.init) }
    if let wrong = EventFilter.unmatched(globs).first {
      return .now(.refusal(400, "page.request", "`\(wrong)` matches no type of events"))
    }
    let last = request.header("last-event-id") ?? request.parameter("after") ?? ""
    let (epoch, place) = host.look { state -> (Int, Int) in
      let parts = last.split(separator: "-").compactMap { Int($0) }
      let (asked, seq) = parts.count == 2 ? (parts[0], parts[1]) : (1, parts.first ?? -1)
      // A browser that knows an earlier run learns this one from its beginning.
      return (state.epoch, asked == state.epoch ? state.shelf.place(after: seq) : 0)
    }
    return .stream(
      stream, ShelfStream(host: host, epoch: epoch, place: place, filter: EventFilter(globs: globs)))
  }

  // MARK: Control

  private func control(_ request: WebRequest, _ host: PageHost) -> WebReply {
    guard request.method == "POST" else {
      return .now(WebAnswer.refusal(405, "page.method", "what is asked of a run is sent by POST").with("Allow", "POST"))
    }
    guard request.header("content-type")?.lowercased().hasPrefix("application/json") ?? false else {
      return .now(.refusal(415, "page.request", "send `Content-Type: application/json`"))
    }
    let wish: RunControl.Request
    do throws(Fault) { wish = try PageWish.read(request.body) } catch {
      return .now(.refusal(400, error.code, error.message))
    }
    return .later {
      let answer = await host.ask(wish)
      var writer = JSONWriter()
      var fields: Fields = [
        "accepted": .bool(answer.isAccepted), "state": .string(answer.state.rawValue),
        "message": .string(answer.message),
      ]
      if !answer.isAccepted { fields["code"] = "control.refused" }
      writer.value(.map(fields))
      return .json(writer.bytes + [0x0A], status: answer.isAccepted ? 200 : 409)
    }
  }
}

/// Reads what a browser asks of a run: `{"verb":"pause","scope":{"stage":"fetch"}}`.
enum PageWish {
  private static let verbs = ["start", "pause", "resume", "drain", "cancel", "set"]
  private static let kinds = ["source", "stage", "host", "item"]

  static func read(_ body: [UInt8]) throws(Fault) -> RunControl.Request {
    guard let map = (try? JSONReader.read(body))?.asMap else {
      throw problem("the body is a JSON object such as {\"verb\":\"pause\"}")
    }
    guard let verb = map["verb"]?.asString, verbs.contains(verb) else {
      throw problem("`verb` is one of \(verbs.joined(separator: ", "))")
    }
    var request = RunControl.Request(verb)
    if let scope = map["scope"], scope != .null {
      guard let named = scope.asMap else { throw problem("`scope` is an object such as {\"stage\":\"fetch\"}") }
      guard named.names.count <= 1 else { throw problem("`scope` names one part of the run") }
      if let (kind, value) = zip(named.names, named.values).first(where: { _ in true }) {
        guard kinds.contains(kind), let name = value.asString, !name.isEmpty else {
          throw problem("`scope` names a \(kinds.joined(separator: ", a ")); without it the run is meant")
        }
        request.kind = kind
        request.name = name
      }
    }
    request.isImmediate = map["now"]?.asBool ?? false
    request.key = map["key"]?.asString
    request.value = map["value"].flatMap { $0 == .null ? nil : $0.text }
    if verb == "set", request.key == nil || request.value == nil {
      throw problem("`set` takes a `key` and a `value`, such as \"connections\" and \"4\"")
    }
    if verb == "start", request.kind != "run" { throw problem("only a whole run is started") }
    return request
  }

  private static func problem(_ words: String) -> Fault { Fault("page.request", .permanent, words) }
}
