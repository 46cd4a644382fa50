internal import FlowBase

/// What the error codes of items, hosts, disks and sinks mean, and what to do about each.
enum CodeReference {
  /// A code and what is to be said of it.
  struct Entry: Sendable {
    let code: String
    let kind: FaultClass
    /// What has happened.
    let meaning: String
    /// What to do.
    let remedy: String
    /// How that looks; a manifest's line or a command.
    var example: String?

    init(_ code: String, _ kind: FaultClass, _ meaning: String, _ remedy: String, _ example: String? = nil) {
      self.code = code
      self.kind = kind
      self.meaning = meaning
      self.remedy = remedy
      self.example = example
    }
  }

  /// All codes, by class.
  static let all: [Entry] =
    network + http + bodies + tables + paths + expressions + local + programs + PageReference.codes + others

  /// The entry of a code; codes of an HTTP status that has none of its own share one.
  static func entry(_ code: String) -> Entry? {
    if let entry = all.first(where: { $0.code == code }) { return entry }
    guard code.hasPrefix("http."), let status = Int(code.dropFirst(5)), (100...599).contains(status) else { return nil }
    return switch status {
    case 500...599:
      Entry(code, .transient, "The server answered \(status): it failed.", "It is tried again with back-off.", retry)
    case 300...399:
      Entry(
        code, .permanent, "The server answered \(status), a redirect, and did not say where to.",
        "Ask the server's owner, or use the new address.")
    default:
      Entry(
        code, .permanent, "The server answered \(status).",
        "Look at the address; `imgflow status last ITEM` shows the answer.")
    }
  }

  /// What becomes of a class of faults.
  static func words(for kind: FaultClass) -> String {
    switch kind {
    case .transient: "tried again with back-off"
    case .quota: "tried again after Retry-After; the whole host waits meanwhile"
    case .permanent: "not tried again"
    case .auth: "not tried again"
    case .config: "not tried again; the run stops"
    case .local: "not tried again; the run finishes what has begun and stops"
    case .internal: "not tried again; it is a bug, please report it"
    case .cancelled: "not tried again; the next run goes on with it"
    }
  }

  private static let retry = "- fetch: { accept: image/* }\n  retry: { attempts: 8, backoff: 1s..5m }\n"
  private static let again = "imgflow run --failed --class transient\n"

  private static let network: [Entry] = [
    Entry(
      "dns.temporary", .transient, "The name server gave no answer.",
      "It is tried again; if it stays, look at the machine's network.", again),
    Entry("dns.nxdomain", .permanent, "There is no host of this name.", "Look for a slip in the host's name."),
    Entry(
      "net.refused", .transient, "The host refused the connection.",
      "Nothing listens there, or the host is overloaded.", again),
    Entry(
      "net.reset", .transient, "The host broke the connection off.",
      "It is tried again.", again),
    Entry("net.unreachable", .transient, "There is no way to the host.", "Look at the machine's network.", again),
    Entry(
      "net.timeout.connect", .transient, "The host did not take the connection in time.",
      "Raise `connect` if the host is slow.", "- fetch: { connect: 30s }\n"),
    Entry(
      "net.timeout.tls", .transient, "The handshake of TLS did not end in time.",
      "Raise `connect` if the host is slow.", "- fetch: { connect: 30s }\n"),
    Entry(
      "net.timeout.first_byte", .transient, "The answer did not begin in time.",
      "Raise `first_byte` if the server works long.", "- fetch: { first_byte: 2m }\n"),
    Entry(
      "net.timeout.idle", .transient, "No byte came for too long.", "Raise `idle`, if the server pauses on purpose.",
      "- fetch: { idle: 1m }\n"),
    Entry(
      "net.timeout.total", .transient, "One try took longer than the stage's `timeout`.",
      "Raise `timeout`, or leave it out.", "- fetch\n  timeout: 5m\n"),
    Entry(
      "net.slow", .transient, "Bytes came more slowly than `min_speed`.", "Lower `min_speed`, or fetch fewer at once.",
      "- fetch: { min_speed: 1kB/s }\n"),
    Entry(
      "net.failed", .transient, "The transfer failed in a way that has no code of its own.",
      "The message says what happened; it is tried again.", again),
    Entry(
      "net.protocol", .permanent, "What listens there does not speak HTTP.", "Look at the port and the scheme."),
    Entry(
      "net.proxy", .transient, "The proxy on the way did not do its work.", "Look at `proxy` under `hosts`.",
      "hosts:\n  cdn.example.com: { proxy: \"http://proxy.example.com:3128\" }\n"),
    Entry(
      "net.descriptors", .transient, "No file descriptor was left for another connection.",
      "Raise `ulimit -n`, or ask fewer at once.", "limits: { connections: 16 }\n"),
    Entry(
      "tls.handshake", .transient, "The handshake of TLS failed.",
      "The message says why; the port may not speak TLS at all.", again),
    Entry(
      "config.tls", .config, "A certificate or key under `hosts` cannot be read or used.",
      "Look at the files that `tls` names.", "hosts:\n  intern.example.com: { tls: { ca: ca.pem } }\n"),
    Entry(
      "tls.untrusted", .auth, "The host's certificate is signed by nobody that this machine trusts.",
      "Name the certificate to trust under `hosts`.", "hosts:\n  intern.example.com: { tls: { ca: ca.pem } }\n"),
    Entry(
      "tls.expired", .auth, "The host's certificate has expired.",
      "Only the host's owner can renew it; look at this machine's clock too."),
    Entry(
      "redirect.loop", .permanent, "The server redirects in a circle, or too often.",
      "Open the address in a browser to see where it leads.", "- fetch: { redirects: 10 }\n"),
    Entry(
      "redirect.refused", .permanent,
      "The redirect leads where nothing is fetched from: another scheme, or a private address.",
      "If it is meant to, allow the host.", "hosts:\n  10.0.0.0/8: { allow: true }\n"),
    Entry(
      "url.blocked", .permanent, "The address is private or of this machine, and nothing allows it.",
      "Allow its host in the manifest, or say --allow-private.", "hosts:\n  127.0.0.1: { allow: true }\n"),
    Entry("url.malformed", .permanent, "The text is no URL.", "Look at the row or template that it comes from."),
    Entry("url.invalid", .permanent, "The text is no URL.", "Look at the row or template that it comes from."),
    Entry(
      "url.scheme", .permanent, "Only http and https are fetched.",
      "For files of this machine there is the source `directory`.",
      "sources:\n  - directory: { path: scans, glob: \"*.tif\" }\n"),
    Entry(
      "header.invalid", .permanent, "A request header has characters that no header may have, such as a line break.",
      "Look at the value that was put into it."),
    Entry(
      "header.too_large", .permanent, "The headers of the answer are larger than any sane server sends.",
      "Ask the server's owner."),
    Entry(
      "host.budget", .quota, "The host's budget is used up for now.",
      "It is asked again later; raise the host's `rate` if it allows more.",
      "hosts:\n  cdn.example.com: { rate: 20/s }\n"),
  ]

  private static let http: [Entry] = [
    Entry(
      "http.401", .auth, "The server wants to know who asks.", "Give the host its credentials under `hosts`.",
      "hosts:\n  cdn.example.com: { auth: { bearer: \"${secret.CDN_TOKEN}\" } }\n"),
    Entry(
      "http.403", .auth, "The server does not allow this.",
      "Credentials, `referer` or `user_agent` may be missing; some hosts refuse programs altogether.",
      "hosts:\n  cdn.example.com: { user_agent: \"catalog (ops@example.com)\" }\n"),
    Entry(
      "http.404", .permanent, "There is nothing under this address.",
      "Look for a slip in the address; `mirrors` may have it.",
      "sources:\n  - urls:\n      - { url: https://a.example/x.png, mirrors: [https://b.example/x.png] }\n"),
    Entry("http.408", .transient, "The server waited too long for the request.", "It is tried again.", again),
    Entry("http.410", .permanent, "What was here is gone for good.", "Take the item out of the list."),
    Entry("http.425", .transient, "The server wants to be asked again a little later.", "It is tried again.", again),
    Entry(
      "http.429", .quota, "The server is asked too often.",
      "The whole host waits as long as it says, then goes on. To stay below its limit, set a rate.",
      "hosts:\n  images.museum.org: { rate: 2/s, connections: 2 }\n"),
    Entry("http.500", .transient, "The server failed.", "It is tried again with back-off.", retry),
    Entry("http.502", .transient, "A server in between got no good answer.", "It is tried again with back-off.", retry),
    Entry(
      "http.503", .quota, "The server is overloaded or being serviced.",
      "The whole host waits as long as it says, then goes on.", "hosts:\n  cdn.example.com: { connections: 4 }\n"),
    Entry("http.504", .transient, "A server in between waited too long.", "It is tried again with back-off.", retry),
  ]

  private static let bodies: [Entry] = [
    Entry(
      "body.truncated", .transient, "Fewer bytes came than the server had announced.",
      "It is tried again from where they ended, if the server can do that.", again),
    Entry(
      "robots.disallowed", .permanent, "The host's robots.txt does not want this address to be visited.",
      "Leave it out with `where:`, or set `robots: false` for the host if its owner agrees.",
      "hosts:\n  images.example.com: { robots: false }\n"),
    Entry(
      "range.mismatch", .transient, "The server sent another part of the file than was asked for.",
      "The next try begins anew.", again),
    Entry(
      "content.missing", .permanent, "The item has no bytes here.", "Put the stage behind one that gives them.",
      "- fetch\n- store\n"),
    Entry(
      "content.changed", .permanent,
      "The file out of which the bytes were to be taken has been changed meanwhile; nothing was stored.",
      "Run again: what is missing is fetched then."),
    Entry(
      "body.too_large", .permanent, "The body is larger than `max_bytes`.", "Raise `max_bytes` if it is what you want.",
      "- fetch: { max_bytes: 200MB }\n"),
    Entry(
      "body.too_small", .permanent, "The body is smaller than `min_bytes`.",
      "Often a placeholder; lower `min_bytes` if it is what you want.", "- fetch: { min_bytes: 100 }\n"),
    Entry(
      "media.unexpected", .permanent, "What came is not of a media type that `accept` names.",
      "Often an error page in place of a picture. Look at the address, or widen `accept`.",
      "- fetch: { accept: [image/*, application/pdf] }\n"),
    Entry(
      "encoding.unsupported", .permanent, "The body is packed in a way that is not known, or in too many layers.",
      "Ask for it unpacked.", "- fetch: { encoding: identity }\n"),
    Entry(
      "verify.size", .permanent, "The bytes are not as many as the list says.",
      "The file has changed, or the list is old."),
    Entry(
      "verify.digest", .permanent, "The bytes do not have the digest that the list says.",
      "The file has changed or was tampered with, or the list is old. Nothing was stored."),
    Entry(
      "verify.expectation", .permanent, "What the bytes should match is no digest.",
      "Write it in hex, or as `sha256-` and base64.", "- verify: { sha256: \"${row.sha256}\" }\n"),
    Entry(
      "verify.nothing", .permanent, "There are no bytes to check, or nothing to check them against.",
      "Give `verify` a size or digest, or the item one.", "- verify: { sha256: \"${row.sha256}\" }\n"),
    Entry(
      "image.corrupt", .permanent, "The bytes are no picture, or a broken one.",
      "Look at the file; often an error page was saved."),
    Entry("image.truncated", .permanent, "The picture ends too early.", "The file on the server is cut."),
    Entry(
      "image.too_large", .permanent, "The picture has more pixels, frames or metadata than are allowed.",
      "The message says how many. Raise the limit on the stage, or leave such items out.",
      "- resize: { width: 1024, max_pixels: 400000000 }\n"),
    Entry(
      "image.unsupported", .permanent, "The picture is of a format that is not read.",
      "SVG and PDF are read where `loaders` names them; others are not.",
      "- resize: { width: 512, format: png, loaders: [svg] }\n"),
    Entry(
      "image.crop", .permanent, "The part that `crop` is to keep lies outside of the picture.",
      "Filter small pictures out, or let `gravity` choose the place.", "- probe\n- filter: item.width >= 800\n"),
    Entry(
      "image.empty", .permanent, "There was no picture for the sheet.", "Look at the stages before `montage`."),
    Entry(
      "image.crashed", .permanent, "The picture brought down the process that worked on it.",
      "Only this item is lost. Look at the file before you open it elsewhere: it may be made to do harm."),
    Entry(
      "image.timeout", .permanent, "Work on the picture took so long that it was given up.",
      "Make the picture smaller first, or lower `effort`.", "- resize: { width: 2048 }\n"),
    Entry(
      "image.encoder", .config, "This machine cannot write the format.", "The message names the package to install.",
      "apt-get install libheif1\n"),
    Entry(
      "image.unavailable", .config, "The library for pictures is missing, or the program that runs it.",
      "The message names the package to install.", "apt-get install libvips42\n"),
  ]

  private static let tables: [Entry] = [
    Entry(
      "record.truncated", .permanent, "The table ends in the middle of a row.",
      "The file is cut, or a quote is not closed."),
    Entry("record.gzip", .permanent, "The packed file is broken.", "Pack it again.", "gzip -t list.csv.gz\n"),
    Entry(
      "record.encoding", .permanent, "The table is not written in UTF-8.", "Convert it.",
      "iconv -f LATIN1 -t UTF-8 old.csv > list.csv\n"),
    Entry(
      "record.cells", .permanent, "A row has more or fewer cells than the table has columns.",
      "Quote cells that hold the separator.", "a1,\"Oslo, Norway\",https://example.com/a1.jpg\n"),
    Entry(
      "record.column", .config, "Two columns of the table have one name.",
      "Rename one, or name the columns in the manifest.", "- file: { path: list.csv, header: [sku, url, note] }\n"),
    Entry("record.json", .permanent, "A line of the list is no JSON object.", "The message names the line and column."),
    Entry(
      "record.quote", .permanent, "A quote of the table is never closed.",
      "A quote inside quotes is written twice.", "a1,\"12\"\" print\",https://example.com/a1.jpg\n"),
    Entry("record.too_long", .permanent, "A row or cell of the table is too long.", "The message names the line."),
    Entry(
      "record.type", .permanent, "A cell is not of the type that `types` gives its column.",
      "Correct the cell, or take the column out of `types`.",
      "- file: { path: list.csv, url: \"${row.url}\", types: { width: integer } }\n"),
    Entry(
      "item.duplicate_key", .permanent, "Two different items of one source have one key.",
      "Make the key from something that tells them apart.",
      "- file: { path: list.csv, url: \"${row.url}\", key: \"${row.sku}-${row.colour}\" }\n"),
    Entry(
      "source.markup", .permanent, "A document that a source reads is no well-formed XML or holds no HTML.",
      "Look at what the address gives: it may be a page about an error.", "curl -sL ADDRESS | head\n"),
    Entry(
      "source.too_large", .permanent, "A document that a source reads is longer than is read of one.",
      "Split it; sitemaps have indexes for that.", "sources:\n  - sitemap: https://example.com/sitemap-index.xml\n"),
    Entry(
      "source.elsewhere", .transient, "A source lies on another host, which is only asked when the manifest is run.",
      "Run the manifest; `plan` shows `?` for what it cannot know.", "imgflow run\n"),
    Entry(
      "config.selector", .config, "A CSS selector cannot be read, or is more than is known of CSS.",
      "Names, `.class`, `#id`, `[attribute]`, `:not()`, `:nth-child()` and the combinators are known.",
      "- page: { url: 'https://example.com/', selector: '#photos a[href$=\".jpg\"]' }\n"),
    Entry(
      "config.pattern", .config, "The pattern of `match` is no regular expression.",
      "Mend it, or begin it with `*` for a wildcard.", "- feed: { url: 'https://example.com/rss', match: '*.jpg' }\n"),
    Entry(
      "config.library", .config, "A library that the manifest needs is not on this machine.",
      "Install it as the message says.", "apt-get install libxml2\n"),
    Entry(
      "source.no_address", .permanent, "The row has no address.", "Look at the row; `where` can leave such rows out.",
      "- file: { path: list.csv, url: \"${row.url}\" }\n  where: row.url != ''\n"),
    Entry("source.no_url", .permanent, "The source gave an entry without an address.", "Look at the list."),
    Entry(
      "source.no_key", .permanent, "`key` gave an empty text for a row.",
      "Make the key from a column that is never empty.",
      "- file: { path: list.csv, url: \"${row.url}\", key: \"${row.sku ?? row.url}\" }\n"),
    Entry(
      "source.column", .config, "The table has no such column.", "The message names those that it has.",
      "- file: { path: list.csv, url: \"${row.address}\" }\n"),
    Entry(
      "source.format", .config, "The file's name does not tell how it is written.", "Name its format.",
      "- file: { path: export.dat, format: tsv }\n"),
    Entry(
      "source.glob", .config, "The pattern of file names cannot be read.", "Close every bracket; stay below `path`.",
      "- directory: { path: scans, glob: \"**/*.png\" }\n"),
    Entry(
      "source.expectation", .config, "A digest in the list is none.", "Write it in hex, or as `sha256-` and base64."),
    Entry(
      "item.no_url", .permanent, "The row has no address.", "Look at the row; `where` can leave such rows out.",
      "- file: { path: list.csv, url: \"${row.url}\" }\n  where: row.url != ''\n"),
  ]

  private static let paths: [Entry] = [
    Entry(
      "path.collision", .permanent,
      "Two items want one path; it may differ in case or Unicode form only. The first has it.",
      "Put something into the path that tells them apart.", "- store: \"${item.source}/${item.key}.${item.ext}\"\n"),
    Entry(
      "path.escapes", .permanent, "The path leads out of the output folder.",
      "Paths stay below `output.dir`; leave `..` out."),
    Entry(
      "path.invalid", .permanent, "The path is empty or has a part that no file can have.",
      "Look at the template and the values in it.", "- store: \"${item.key | default('unnamed') | slug}.png\"\n"),
    Entry(
      "path.too_long", .permanent, "The path is longer than the system allows.", "Shorten it.",
      "- store: \"${item.key | trunc(80)}.png\"\n"),
    Entry(
      "path.exists", .permanent, "There is a file already, and `on_exists` is `fail`.",
      "Choose another `on_exists`, or another path.", "output: { dir: out, on_exists: keep }\n"),
  ]

  private static let expressions: [Entry] = [
    Entry(
      "expression.type", .permanent, "A value in an expression is of a type that cannot stand there.",
      "Convert it, or say its type where it comes from.", "- filter: (row.weight | number) > 2\n"),
    Entry(
      "expression.convert", .permanent, "A text in an expression is no number or date.",
      "Give it a default, or leave such rows out.", "where: row.weight matches '^[0-9.]+$'\n"),
    Entry(
      "expression.division", .permanent, "A number is divided by zero.", "Check the divisor first.",
      "- filter: item.height > 0 and item.width / item.height > 1\n"),
    Entry("expression.overflow", .permanent, "A number grows too large.", "Look at the values in the expression."),
    Entry(
      "expression.range", .permanent, "An argument of a filter is out of its range.",
      "`imgflow explain expressions` names the filters."),
    Entry(
      "expression.null", .permanent, "An operator needs a value, and there is none.", "Name one to take in its place.",
      "- filter: (row.weight ?? 0) > 2\n"),
    Entry(
      "expression.format", .permanent, "The form of a date has a part that is not known.",
      "There are %Y %m %d %H %M %S %j.", "path: \"${row.day | date('%Y/%m')}/${item.name}\"\n"),
    Entry(
      "expression.pattern", .permanent, "The pattern of `matches` is no regular expression.",
      "Look at its brackets and escapes."),
    Entry(
      "expression.limit", .permanent, "The expression takes too long or makes too long a text.",
      "Simplify the pattern, or shorten the text first.", "- filter: item.name | trunc(200) matches 'a+b'\n"),
    Entry(
      "expression.arguments", .permanent, "A filter is given too many or too few arguments.",
      "`imgflow explain expressions` names the filters."),
    Entry(
      "expression.unknown", .permanent, "A name in the expression has no value here.", "Give it a default.",
      "path: \"${row.name ?? item.key}.png\"\n"),
  ]

  private static let local: [Entry] = [
    Entry(
      "disk.full", .local, "The disk is full, or the user's quota is used up.",
      "Make room, then run again: what is done stays done.", "imgflow run\n"),
    Entry(
      "disk.denied", .local, "This user may not write or read there.",
      "Change the permissions, or choose another folder.", "imgflow run --out ~/pictures\n"),
    Entry(
      "disk.budget", .local, "Temporary files reached `limits.temp`.", "Raise it, or run fewer transfers at once.",
      "limits: { temp: 20GB }\n"),
    Entry(
      "config.glob", .config, "A pattern over paths cannot be read.",
      "A bracket or a brace may be open, or the pattern leads out by `..`.", "- unpack: { match: ['**/*.png'] }\n"),
    Entry(
      "archive.corrupt", .permanent, "The file is no archive, or is damaged.",
      "tar (also with gzip, bzip2, xz, zstd), zip and 7z are unpacked.", "- unpack: { match: ['**/*.png'] }\n"),
    Entry(
      "archive.too_large", .permanent, "The archive holds more members or bytes than it may.",
      "Raise the limit, if the archive can be trusted.", "- unpack: { max_bytes: 20GB, max_members: 100000 }\n"),
    Entry(
      "archive.unsupported", .permanent, "The archive is encrypted.", "Decrypt it first.", nil),
    Entry(
      "lock.violated", .permanent, "An item is not what the lock says, or is in the lock and nowhere else.",
      "Look at the difference; if it is meant, take it over.", "imgflow lock --update 'banners/*'\n"),
    Entry(
      "lock.unreadable", .config, "The lock cannot be read.", "Mend it, or remove it and write a new one.",
      "imgflow lock\n"),
    Entry(
      "lock.nothing", .config, "No stage of the manifest fetches anything.", "There is nothing to lock.", nil),
    Entry(
      "cache.missing", .permanent, "A frozen run needs bytes that the content store does not have.",
      "Run once without --frozen, with the same `state.cache`.", "imgflow run --locked\n"),
    Entry(
      "disk.missing", .local, "There is no such file or folder.",
      "Look for a slip in the path; relative paths start from the manifest's folder."),
    Entry(
      "disk.exists", .local, "There is such a file already, and it is not replaced.", "Move it out of the way first."),
    Entry("disk.too_large", .local, "The file is larger than may be read at once.", "Check that it is the right file."),
    Entry(
      "disk.handles", .transient, "The process has too many files open.",
      "It is tried again; raise the limit of the shell, or run fewer transfers at once.", "ulimit -n 4096\n"),
    Entry("disk.io", .local, "The disk failed.", "The system's log says more; what is done stays done."),
    Entry(
      "state.locked", .local, "Another run holds the state directory.",
      "Wait for it with --wait-lock, or give this run a directory of its own.", "imgflow run --wait-lock\n"),
    Entry("state.busy", .local, "Another process is writing to the journal.", "Try again; look for a run that hangs."),
    Entry(
      "state.missing", .local, "There is no journal: nothing has run here yet.",
      "Name the state directory, or run the manifest first.", "imgflow status --state path/.imgflow\n"),
    Entry(
      "state.damaged", .local, "The journal cannot be understood: it was cut, overwritten, or is no journal at all.",
      "Put back a copy of it, or move its folder away and begin anew; nothing was changed.",
      "mv .imgflow/catalog .imgflow/catalog.damaged\n"),
    Entry(
      "state.newer", .local, "The journal was written by a newer imgflow.",
      "Use that one, or another state directory."),
    Entry(
      "state.changed", .local, "What an earlier run had done of an item was changed while this run began.",
      "Leave the output folder alone while a run begins, and run again.", "imgflow run\n"),
    Entry(
      "prune.altered", .permanent, "The file was changed since it was written, so it is not removed.",
      "Remove it by hand if it is not wanted."),
    Entry(
      "sink.closed", .local, "Whoever read the stream has gone.", "Nothing is to be done: the run goes on without it."),
    Entry(
      "sink.timeout", .local, "A reader took nothing for too long at the end of the run, and was given up.",
      "Read the stream to its end."),
    Entry(
      "sink.overflow", .local, "The reader of a stream stopped reading, and what waits for it has reached its limit.",
      "Read faster, or ask for fewer events.", "sinks:\n  - ndjson: { to: stdout }\n    events: [\"run.*\", item.end]\n"
    ),
    Entry(
      "sink.undelivered", .local, "The receiver of a webhook did not take everything by the end of the run.",
      "Nothing is lost: what is left waits in the state directory. The next run sends it, and so does `imgflow flush`.",
      "imgflow flush manifest.yaml --deadline 5m\n"),
    Entry(
      "sink.gone", .permanent, "The receiver of a webhook answered 410: it wants no more.",
      "Take the sink out, or name its new address; what is left in the state directory is then sent there.",
      "imgflow flush manifest.yaml\n"),
    Entry(
      "sink.rejected", .permanent, "The receiver of a webhook refused a request three times.",
      "The message names the file that the request was put aside in, a line of JSON with its id, body and answer. "
        + "A 401 or 403 often means that the signing key or a header is wrong."),
  ]

  private static let programs: [Entry] = [
    Entry(
      "script.error", .permanent, "A Lua script raised an error; the message names its file and line.",
      "Mend the script; `print` in it writes to the run's log."),
    Entry(
      "script.limit", .permanent, "A call of a Lua script took more than ten million instructions or 32 MiB of memory.",
      "Do less in one call, or use a plugin for work that is heavy.", "imgflow plugin new --lang python acme.heavy\n"),
    Entry(
      "script.result", .permanent, "A Lua script returned something that means nothing here.",
      "Return a table of fields, `false`, a text, or a list of items.",
      "function item(item) return { title = item.name } end\n"),
    Entry(
      "config.script", .config, "A Lua script cannot be loaded, or lacks the function that is to be called.",
      "The message names the line.", "- script: { file: rules.lua, function: item }\n"),
    Entry(
      "config.exec", .config, "A program cannot be started, or its words make no sense here.",
      "Install it, or give its whole path.",
      "- exec: [/usr/bin/jpegtran, -outfile, \"${out.path}\", \"${item.path}\"]\n"),
    Entry(
      "exec.failed", .permanent, "A program ended with another exit code than 0, or by a signal.",
      "The message has the last lines that it wrote."),
    Entry(
      "exec.output", .permanent, "A program ended well and did not write the one file that was expected.",
      "Let it write `${out.path}`, to which an extension may be added.",
      "- exec: [cwebp, \"${item.path}\", -o, \"${out.path}.webp\"]\n"),
    Entry(
      "exec.input", .permanent, "A program has changed the file that it was given to read.",
      "Let it write `${out.path}` instead: other stages, and other items with the same bytes, read that file too.",
      "- exec: [sed, \"s/a/b/w ${out.path}\", \"${item.path}\"]\n"),
    Entry(
      "program.output", .permanent, "What a program has written cannot be taken over: it is no regular file, or gone.",
      "Let it write a plain file below the folder that it was given."),
    Entry(
      "item.key", .permanent, "A stage made an item without a key, or with one that cannot be used.",
      "Give each made item a key of its own.", "return { { key = \"left\" }, { key = \"right\" } }\n"),
    Entry(
      "plugin.crashed", .permanent, "A plugin ended in the middle of this item, twice, with nothing else to do.",
      "Look at what it wrote to standard error; the other items are unharmed.", "imgflow plugin check plugins/acme\n"),
    Entry(
      "plugin.crash_loop", .permanent, "A plugin crashed five times in a minute without finishing an item.",
      "Look at what it wrote to standard error.", "imgflow plugin check plugins/acme\n"),
    Entry(
      "plugin.restarted", .transient, "A plugin ended while this was under way, and was started again.",
      "It is tried again.", again),
    Entry(
      "plugin.timeout", .permanent, "A plugin took longer for an item than its `limits.item`.",
      "Raise the limit in its plugin.yaml, or find out what hangs.", "limits: { item: 5m }\n"),
    Entry(
      "plugin.start", .permanent, "A plugin cannot be started, or does not say in time that it is ready.",
      "Run it by hand in its folder; `plugin check` shows what it says.", "imgflow plugin check plugins/acme\n"),
    Entry(
      "plugin.noise", .permanent, "A plugin wrote more than 100 lines to standard output that are no messages.",
      "Let it write to standard error instead: standard output belongs to the protocol.",
      "print(\"working\", file=sys.stderr)\n"),
    Entry(
      "plugin.protocol", .permanent, "A plugin answered with a message that does not say what it must.",
      "`plugin check` shows which.", "imgflow plugin check plugins/acme\n"),
    Entry(
      "plugin.error", .permanent, "A plugin reported an error without a code that can be used.",
      "Codes are words of small letters with dots, such as `image.no_face`."),
    Entry(
      "plugin.test", .permanent, "A test of a plugin expects something else than what came.",
      "The message names both.", "imgflow plugin test plugins/acme\n"),
    Entry(
      "plugin.publish", .permanent, "A stage that is served as a plugin tried to store a file itself.",
      "Let it give its bytes to the run, and let a `store` behind it name them."),
    Entry(
      "plugin.record", .permanent, "The file is no record of what was said to plugins.",
      "`run --record FILE` writes one.", "imgflow run --record talk.ndjson\n"),
    Entry(
      "config.plugin", .config, "A plugin refuses its configuration.", "The message says which key, and why."),
  ]

  private static let others: [Entry] = [
    Entry(
      "config.type", .config, "An expression gave a value of the wrong type for its key.",
      "The message names both; convert the value.", "- fetch: { max_bytes: \"${row.limit | int}\" }\n"),
    Entry("config.sink", .config, "A sink cannot be opened as it is configured.", "The message says why."),
    Entry("config.source", .config, "A source cannot be opened as it is configured.", "The message says why."),
    Entry("config.template", .config, "A text of the manifest cannot be evaluated.", "The message says why."),
    Entry(
      "config.value", .config, "A key has a value that it cannot have.",
      "The message names the key and what it takes.", "- crop: { aspect: \"16:9\" }\n"),
    Entry(
      "config.mode", .config, "`mode` is no file mode.", "Write it in octal, as `chmod` takes it.",
      "- store: { path: \"${item.name}\", mode: \"0644\" }\n"),
    Entry(
      "secret.missing", .config, "A secret that the manifest lists is not there.",
      "Set its environment variable, or name its file.", "secrets: { CDN_TOKEN: { file: /run/secrets/cdn } }\n"),
    Entry(
      "control.absent", .local, "The run ended before it could answer.", "`imgflow status` says how it ended.",
      "imgflow status\n"),
    Entry(
      "run.unknown", .permanent, "There is no such run here.",
      "`imgflow runs` lists them; `--state DIR` looks elsewhere.", "imgflow runs\n"),
    Entry(
      "run.ambiguous", .permanent, "Several runs begin like this.", "Give more of the id.", "imgflow runs\n"),
    Entry(
      "item.unknown", .permanent, "The journal knows no such item.", "Items are named source/key.",
      "imgflow status last products/A1\n"),
    Entry(
      "control.refused", .permanent, "The run's state does not allow this move.", "`imgflow status` shows the state."),
    Entry("cancelled.user", .cancelled, "Somebody cancelled it.", "Run again to go on with it.", "imgflow run\n"),
    Entry("cancelled.signal", .cancelled, "A signal ended the run.", "Run again to go on with it.", "imgflow run\n"),
    Entry(
      "cancelled.stop_if", .cancelled, "The manifest's `stop_if` became true.", "Look at what failed, then run again.",
      "imgflow status\n"),
    Entry(
      "cancelled.deadline", .cancelled, "The run's `--deadline` passed.", "Run again to go on with it.",
      "imgflow run --deadline 1h\n"),
    Entry(
      "internal.error", .internal, "Something happened that cannot happen.",
      "Please report it with the message and `imgflow --version`."),
  ]
}
