internal import FlowBase

/// The page as one document: nothing in it comes from anywhere else, and nothing of a run stands in it.
///
/// What a run is about arrives later, as data, and becomes text and nothing but text.
enum PageMarkup {
  /// The document's bytes.
  static let document = Array(text.utf8)

  /// What a browser may do with it: run exactly this script, use exactly this style, ask exactly this server.
  static let policy = [
    "default-src 'none'", "script-src '\(hash(script))'", "style-src '\(hash(PageStyle.css))'", "img-src 'self' data:",
    "connect-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
    "require-trusted-types-for 'script'", "trusted-types 'none'",
  ].joined(separator: "; ")

  private static func hash(_ text: String) -> String {
    "sha256-" + Base64.encode(Digest.sha256(of: text).bytes)
  }

  /// The script: the ring's table, as the program itself follows it, and then what draws.
  static let script =
    "'use strict';\nconst RING = \(Ring.table);\n"
    + [
      PageScript.base, PageScript.ring, PageScript.items, PageScript.sheet, PageScript.graph, PageScript.panels,
      PageScript.start,
    ]
    .joined(separator: "\n")

  private static let icon =
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Ccircle cx='16' cy='16' "
    + "r='11' fill='none' stroke='%232f6fde' stroke-width='6' stroke-dasharray='52 69' stroke-linecap='round' "
    + "transform='rotate(-90 16 16)'/%3E%3C/svg%3E"

  private static let text = """
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>imgflow</title>
    <link rel="icon" href="\(icon)">
    <style>\(PageStyle.css)</style>
    </head>
    <body>
    <a class="skip" href="#items">To the items</a>
    \(body)
    <script>\(script)</script>
    </body>
    </html>

    """

  private static let body = #"""
    <p id="lost" class="lost" role="alert" hidden></p>
    <main>
    <header class="head card">
      <button id="ring" class="ring" type="button" aria-describedby="line hint" data-shown="idle">
        <svg viewBox="0 0 120 120" aria-hidden="true">
          <circle class="track" cx="60" cy="60" r="52"/>
          <circle id="arc" class="arc" cx="60" cy="60" r="52" pathLength="1000"/>
        </svg>
        <span class="inside"><strong id="percent"></strong><span id="word">…</span></span>
      </button>
      <div class="about">
        <h1 id="name">imgflow</h1>
        <p id="line" class="line"></p>
        <p id="hint" class="soft"></p>
        <div class="bar" id="verbs" role="group" aria-label="The run"></div>
        <p id="heldline" class="held" hidden></p>
      </div>
      <div class="charts" aria-label="Throughput">
        <figure class="chart"><figcaption><span>Bytes</span><b id="nowbytes"></b></figcaption>
          <svg id="chartbytes" viewBox="0 0 300 60" preserveAspectRatio="none" role="img"></svg></figure>
        <figure class="chart"><figcaption><span>Items</span><b id="nowitems"></b></figcaption>
          <svg id="chartitems" viewBox="0 0 300 60" preserveAspectRatio="none" role="img"></svg></figure>
      </div>
    </header>
    <section class="card" aria-labelledby="graphtitle">
      <h2 id="graphtitle">Stages</h2>
      <div id="graph" class="graph" tabindex="0" role="group" aria-labelledby="graphtitle"></div>
    </section>
    <div class="columns">
    <section class="list" id="items" aria-labelledby="itemstitle" tabindex="-1">
      <div class="tools">
        <h2 id="itemstitle">Items <small id="count" class="soft"></small></h2>
        <input id="search" type="search" placeholder="Find a name or URL" aria-label="Find a name or URL"
          autocomplete="off" spellcheck="false">
        <div class="filters">
        <div id="states" class="chips" role="group" aria-label="State"></div>
        <div class="selects">
          <select id="bysource" aria-label="Source"></select>
          <select id="bystage" aria-label="Stage"></select>
          <select id="byhost" aria-label="Host"></select>
          <select id="bycode" aria-label="Error code"></select>
          <button id="clear" type="button" class="quiet" hidden>Clear filters</button>
        </div>
        </div>
      </div>
      <div id="grid" class="grid" role="group" aria-label="Items"></div>
      <p id="empty" class="empty soft" hidden></p>
    </section>
    <aside>
      <details class="card" id="failbox" open>
        <summary><h2>Failures</h2></summary>
        <div id="failures"></div>
      </details>
      <details class="card" id="steer" open>
        <summary><h2>Steer</h2></summary>
        <label class="field">Part <select id="scope"></select></label>
        <div id="scopeverbs" class="bar" role="group" aria-label="The part"></div>
        <div class="set">
          <label class="field">Limit <select id="limit"></select></label>
          <label class="field">Value <input id="value" autocomplete="off" spellcheck="false"></label>
          <button id="set" type="button">Set</button>
        </div>
        <p id="answer" class="answer soft" role="status"></p>
      </details>
      <details class="card" id="saidbox" open>
        <summary><h2>What was said</h2></summary>
        <ol id="notes" class="notes"></ol>
      </details>
    </aside>
    </div>
    </main>
    <footer class="soft">imgflow <span id="runid"></span></footer>
    <p id="spoken" class="hidden" role="status" aria-live="polite"></p>
    <dialog id="ask" class="ask" aria-labelledby="asktext">
      <p id="asktext"></p>
      <div class="bar"><button id="yes" type="button" class="strong"></button>
      <button id="no" type="button" autofocus></button></div>
    </dialog>
    <dialog id="sheet" class="sheet" aria-labelledby="sheettitle">
      <div class="sheethead"><h2 id="sheettitle"></h2>
      <button id="closesheet" type="button" class="quiet" aria-label="Close">✕</button></div>
      <div id="sheetbody"></div>
    </dialog>
    """#
}
