internal import FlowBase

/// What the live page answers to programs, and the codes of its refusals.
enum PageReference {
  /// An address of the page.
  struct Address {
    var line: String
    var summary: String
    var parameters: [(String, String)] = []
    var example: String
  }

  static let introduction = """
    `imgflow run --page` and `imgflow page` print an address such as `http://127.0.0.1:41423/?token=f8i4…`. What the \\
    page knows, programs can ask for as well. They send the token as a header:

    ```sh
    page=http://127.0.0.1:41423 token=f8i4…
    curl -H "Authorization: Bearer $token" $page/api/run
    ```

    Answers are JSON, but for pictures and streams. A refusal is `{"error":{"code","message"}}`. Without the token every \\
    address answers 401; a `Host` that is not this server's, and an `Origin` or a site that is not this page's, 403.
    """

  static let addresses = [
    Address(
      line: "GET /api/run",
      summary: "The run as a whole: `state`, `result`, `moves` (what it can be asked for now), `ratio` (null while the "
        + "total is unknown), `items` by state, rates, the time left in `eta_s`, `sources` and `stages` with their counts, "
        + "`hosts` (the first 50), `held` (parts that are paused), `failures` by code and host, the `throughput` of each of the last 300 seconds.",
      example: "curl -sH \"Authorization: Bearer $token\" $page/api/run | jq '.line, .items'"),
    Address(
      line: "GET /api/items",
      summary:
        "The items in the order in which they appeared. `n` is an item's place; `after` of the answer leads to the "
        + "next part of the list, until it is null.",
      parameters: [
        ("state", "`queued running waiting ok filtered failed cancelled`"),
        ("source stage host code", "only items of this source, seen in this stage, of this host, with this error code"),
        ("q", "only items whose name or URL holds this text"),
        ("after", "only items behind this place"), ("offset", "leaves out so many; the answer has a `total`"),
        ("limit", "so many at most: 100 if left out, never more than 500"),
      ],
      example: "curl -sH \"Authorization: Bearer $token\" \"$page/api/items?state=failed&limit=50\""),
    Address(
      line: "GET /api/item/SOURCE/KEY",
      summary:
        "Everything about an item: its state, the stages that it was in, what to do about its error (`advice`), and "
        + "as `history` the last 200 of its events, as they stand in the event stream.",
      example: "curl -sH \"Authorization: Bearer $token\" $page/api/item/products/A1 | jq '.history[].type'"),
    Address(
      line: "GET /api/graph",
      summary: "The sources, stages and sinks, how they hang together (`needs`, `after`), and what moves through them.",
      example: "curl -sH \"Authorization: Bearer $token\" $page/api/graph | jq '.stages[].running'"),
    Address(
      line: "GET /api/events",
      summary:
        "The event stream as server-sent events, from its beginning. A message's id is the event's `seq`; the header "
        + "`Last-Event-ID` goes on behind one, so that a reader that comes back misses nothing. Of a run that was started "
        + "again from the page, ids have the number of that start in front: `2-17`.",
      parameters: [
        ("types", "globs over types, with commas between them: `run.*,item.end`"),
        ("after", "the same as `Last-Event-ID`"),
      ],
      example: "curl -sNH \"Authorization: Bearer $token\" \"$page/api/events?types=item.end\""),
    Address(
      line: "GET /api/live",
      summary:
        "What the page itself follows: at most five messages a second, each with the run as `/api/run` has it, and "
        + "the items that have changed; null where they are too many.",
      example: "curl -sNH \"Authorization: Bearer $token\" $page/api/live"),
    Address(
      line: "GET /thumb/SOURCE/KEY",
      summary: "The item's picture, at most 320 pixels wide and high.",
      example: "curl -sH \"Authorization: Bearer $token\" $page/thumb/products/A1 -o a1.webp"),
    Address(
      line: "POST /api/control",
      summary:
        "Asks something of the run, as `imgflow ctl` does. The answer is `{\"accepted\",\"state\",\"message\"}`: "
        + "with status 200, or 409 and the code `control.refused` where the run's state does not allow it.",
      parameters: [
        ("verb", "`start pause resume drain cancel set`; `start` where the run waits for it, or is over and held"),
        ("scope", "`{\"source\": ID}`, `stage`, `host` or `item`; the whole run if left out"),
        ("now", "with `pause`: true also stops transfers"), ("key value", "with `set`: a limit and its new value"),
      ],
      example: "curl -sH \"Authorization: Bearer $token\" -H 'Content-Type: application/json' \\\n"
        + "  -d '{\"verb\":\"set\",\"scope\":{\"stage\":\"fetch\"},\"key\":\"concurrency\",\"value\":\"2\"}' $page/api/control"
    ),
  ]

  static let codes: [CodeReference.Entry] = [
    .init(
      "config.page", .config, "The page cannot be served where it was asked for.",
      "Name an address of this machine and a free port.", "imgflow run --page-listen 127.0.0.1:8080\n"),
    .init(
      "page.token", .auth, "The page was asked without its token.",
      "Open the address that the run has printed; programs send the token as a bearer.",
      "curl -H \"Authorization: Bearer $token\" http://127.0.0.1:41423/api/run\n"),
    .init(
      "page.host", .permanent, "The page was asked under a name that is not its own.",
      "Use the address that the run has printed. A name that leads here may be meant to fool the browser."),
    .init(
      "page.origin", .permanent, "A page of another site tried to ask the live page for something.",
      "It was refused. Only the live page itself, and programs with the token, may ask."),
    .init(
      "page.request", .permanent, "A request to the page is not as it expects it.",
      "The message says what is expected; the reference has a page on all addresses."),
    .init(
      "page.method", .permanent, "An address of the page was asked with the wrong method.",
      "The answer names the right one."),
    .init("page.unknown", .permanent, "The page has no such address.", "The reference has a page on all addresses."),
    .init("page.item", .permanent, "No item of this name has appeared so far.", "Items are named source/key."),
    .init(
      "page.picture", .permanent, "The item has no picture, or none that can be shown.",
      "Look at its outputs in its history."),
    .init("page.busy", .quota, "Too many connections to the page are open.", "Close some of its tabs."),
    .init(
      "page.over", .permanent, "The page is going away, since the run has ended.", "Show the run again.",
      "imgflow page last\n"),
    .init(
      "page.full", .local, "The page keeps no more events: it has reached the most that it may, or its disk is full.",
      "The run goes on, and so does the page; histories of later items are missing in it."),
  ]
}
