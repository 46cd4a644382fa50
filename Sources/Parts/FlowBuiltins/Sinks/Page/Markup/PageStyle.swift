/// How the live page looks, in light and dark, from a telephone to a wide screen.
enum PageStyle {
  static let css = base + parts + list + sheet

  private static let base = """
    :root {
      color-scheme: light dark;
      --ground: #f6f6f4; --card: #ffffff; --ink: #1c1d1f; --soft: #5d6168; --line: #e2e3e6; --well: #eff0f2;
      --good: #1a7f4b; --bad: #b42318; --calm: #8a6100; --bar: #2f6fde; --quiet: #767b84; --glow: #2f6fde22;
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --ground: #121316; --card: #1a1c20; --ink: #e9eaec; --soft: #a3a8b0; --line: #2d3036; --well: #24272c;
        --good: #4cc38a; --bad: #ff8177; --calm: #e2b340; --bar: #6ea0ff; --quiet: #8b919b; --glow: #6ea0ff2b;
      }
    }
    * { box-sizing: border-box; }
    html { scrollbar-gutter: stable; }
    body {
      margin: 0; background: var(--ground); color: var(--ink);
      font: 15px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
    }
    main { max-width: 96rem; margin: 0 auto; padding: 1rem; display: grid; gap: 1rem; }
    footer { text-align: center; padding: 0 1rem 2rem; font-size: .85rem; }
    h1 { font-size: 1.35rem; line-height: 1.2; margin: 0; overflow-wrap: anywhere; }
    h2 { font-size: .95rem; margin: 0 0 .6rem; letter-spacing: .01em; }
    h2 small { font-weight: 400; font-size: .85rem; }
    p { margin: .25rem 0; }
    a { color: var(--bar); }
    summary { cursor: pointer; } summary h2 { display: inline; } details > summary + * { margin-top: .6rem; }
    .soft { color: var(--soft); }
    .card { background: var(--card); border: 1px solid var(--line); border-radius: .8rem; padding: 1rem; min-width: 0; }
    .hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
    .skip { position: absolute; left: -99rem; }
    .skip:focus { left: 1rem; top: 1rem; z-index: 9; background: var(--card); padding: .5rem 1rem; border-radius: .5rem; }
    .lost { margin: 0; padding: .6rem 1rem; background: var(--calm); color: var(--card); text-align: center; font-weight: 600; }
    [hidden] { display: none !important; }
    button, select, input {
      font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: .5rem;
      padding: .35rem .7rem; min-height: 2.25rem; max-width: 100%;
    }
    select, input { width: 100%; min-width: 0; }
    button { cursor: pointer; }
    button:hover:not(:disabled) { background: var(--well); }
    button:disabled { opacity: .5; cursor: default; }
    button.quiet { border-color: transparent; background: none; color: var(--soft); }
    button.strong { border-color: var(--bad); color: var(--bad); font-weight: 600; }
    :focus-visible { outline: 2px solid var(--bar); outline-offset: 2px; }
    .bar { display: flex; flex-wrap: wrap; gap: .4rem; }
    .field { display: grid; gap: .15rem; font-size: .85rem; color: var(--soft); }
    .field > * { color: var(--ink); font-size: .95rem; }

    """

  private static let parts = """
    .head { display: grid; grid-template-columns: auto minmax(0, 1fr) minmax(0, 26rem); gap: 1.4rem; align-items: center; }
    .ring {
      --shade: var(--bar); position: relative; width: 11rem; height: 11rem; padding: 0; border: 0; border-radius: 50%;
      background: none; touch-action: manipulation; user-select: none; -webkit-tap-highlight-color: transparent;
    }
    .ring:hover:not(:disabled) { background: var(--glow); }
    .ring:focus-visible { outline-offset: 0; }
    .ring:active svg { transform: scale(.97); }
    .ring svg { display: block; width: 100%; height: 100%; transition: transform .12s; }
    .ring circle { fill: none; stroke-width: 9; }
    .ring .track { stroke: var(--well); }
    .ring .arc {
      stroke: var(--shade); stroke-linecap: round; stroke-dasharray: 0 1000; transform: rotate(-90deg);
      transform-origin: 50% 50%; transition: stroke-dasharray .35s ease-out, stroke .2s;
    }
    .ring[data-ratio="0"] .arc { visibility: hidden; }
    .ring[data-sweep] .arc { stroke-dasharray: 220 780; transition: none; animation: sweep 1.6s linear infinite; }
    .ring[data-sweep][data-shown="paused"] .arc { animation-play-state: paused; }
    @keyframes sweep { to { transform: rotate(270deg); } }
    .ring[data-shown="paused"] { --shade: var(--calm); }
    .ring[data-shown="draining"] { --shade: var(--calm); }
    .ring[data-shown="done"] { --shade: var(--good); }
    .ring[data-shown="done"][data-bad], .ring[data-shown="cancelled"] { --shade: var(--bad); }
    .ring[data-shown="idle"] .track { stroke-dasharray: 5 7; stroke: var(--quiet); stroke-width: 3; }
    .ring[data-phase="pressed"] .track { stroke: var(--glow); }
    .inside { position: absolute; inset: 0; display: flex; flex-direction: column; align-items: center; justify-content: center; }
    .inside strong { font-size: 2rem; line-height: 1.1; font-weight: 650; font-variant-numeric: tabular-nums; }
    .inside span { color: var(--soft); font-size: .95rem; }
    .inside strong:empty + span { font-size: 1.25rem; color: var(--ink); font-weight: 600; }
    .about { display: grid; gap: .3rem; min-width: 0; align-content: center; }
    .line { font-size: 1.05rem; font-variant-numeric: tabular-nums; margin: 0; }
    .about .bar { margin-top: .4rem; }
    #hint { margin: 0; font-size: .88rem; min-height: 1.3em; }
    .held { color: var(--calm); margin: .2rem 0 0; overflow-wrap: anywhere; }
    .charts { display: grid; gap: .6rem; min-width: 0; }
    .chart { margin: 0; }
    .chart figcaption { display: flex; justify-content: space-between; gap: 1rem; font-size: .85rem; color: var(--soft); }
    .chart b { color: var(--ink); font-weight: 600; font-variant-numeric: tabular-nums; }
    .chart svg { display: block; width: 100%; height: 3.4rem; border-bottom: 1px solid var(--line); }
    .chart path.area { fill: var(--glow); } .chart path.top { fill: none; stroke: var(--bar); stroke-width: 1.5; vector-effect: non-scaling-stroke; }
    .graph { position: relative; overflow-x: auto; overflow-y: hidden; }
    .graph .field { position: relative; display: block; }
    .graph svg { position: absolute; left: 0; top: 0; pointer-events: none; }
    .graph path { fill: none; stroke: var(--line); stroke-width: 2; }
    .graph path.busy { stroke: var(--bar); stroke-dasharray: 5 6; animation: flow 1s linear infinite; }
    .graph path.gate { stroke-dasharray: 2 5; }
    @keyframes flow { to { stroke-dashoffset: -11; } }
    .node {
      position: absolute; display: flex; flex-direction: column; justify-content: center; text-align: left; padding: .3rem .7rem;
      border-radius: .6rem; overflow: hidden;
    }
    .node b { font-weight: 600; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    .node b small { font-weight: 400; color: var(--soft); }
    .node span { font-size: .82rem; color: var(--soft); white-space: nowrap; font-variant-numeric: tabular-nums; }
    .node[data-busy] { border-color: var(--bar); }
    .node[data-held] { border-style: dashed; border-color: var(--calm); }
    .node[aria-pressed="true"] { background: var(--glow); border-color: var(--bar); }
    .columns { display: grid; grid-template-columns: minmax(0, 1fr) 21rem; gap: 1rem; align-items: start; }
    aside { display: grid; gap: 1rem; min-width: 0; position: sticky; top: 1rem; max-height: calc(100vh - 2rem); overflow: auto; }
    .failure {
      display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 0 .6rem; width: 100%; text-align: left; border: 0;
      border-top: 1px solid var(--line); border-radius: 0; padding: .5rem .2rem; background: none;
    }
    .failure:first-child { border-top: 0; }
    .failure b { color: var(--bad); font-variant-numeric: tabular-nums; }
    .failure span { overflow-wrap: anywhere; } .failure small { grid-column: 2; color: var(--soft); overflow-wrap: anywhere; }
    .set { display: grid; grid-template-columns: 1fr 1fr auto; gap: .4rem; align-items: end; margin-top: .6rem; }
    .answer { min-height: 1.4em; font-size: .88rem; overflow-wrap: anywhere; } .answer[data-no] { color: var(--bad); }
    aside .bar { margin-top: .5rem; } #steer .field { margin-top: .5rem; }
    .notes { list-style: none; margin: 0; padding: 0; font-size: .85rem; display: grid; gap: .35rem; max-height: 16rem; overflow: auto; }
    .notes li { overflow-wrap: anywhere; color: var(--soft); } .notes time { font-variant-numeric: tabular-nums; margin-right: .4rem; }
    .notes li[data-level="error"] { color: var(--bad); } .notes li[data-level="warn"] { color: var(--calm); }
    @media (max-width: 70rem) {
      .columns { grid-template-columns: minmax(0, 1fr); } aside { position: static; max-height: none; order: -1;
        grid-template-columns: repeat(auto-fit, minmax(min(100%, 17rem), 1fr)); }
      .head { grid-template-columns: auto minmax(0, 1fr); } .charts { grid-column: 1 / -1; grid-template-columns: 1fr 1fr; }
      aside { gap: .6rem; } aside > .calm { display: none; }
    }
    @media (max-width: 40rem) {
      main { padding: .6rem; gap: .6rem; } .card { padding: .8rem; }
      .head { grid-template-columns: minmax(0, 1fr); justify-items: center; text-align: center; gap: .8rem; }
      .about .bar { justify-content: center; } .charts { width: 100%; }
      .ring { width: 10rem; height: 10rem; }
    }
    @media (prefers-reduced-motion: reduce) {
      *, *::before { transition: none !important; animation: none !important; }
      .ring[data-sweep] .arc { stroke-dasharray: 60 65; }
    }

    """

  private static let list = """
    .tools {
      position: sticky; top: 0; z-index: 2; background: var(--ground); padding: .2rem 0 .7rem;
      display: grid; grid-template-columns: minmax(0, 1fr) minmax(8rem, 18rem); gap: .5rem; align-items: center;
    }
    .tools h2 { margin: 0; font-size: 1.05rem; }
    .filters { grid-column: 1 / -1; display: flex; flex-wrap: wrap; gap: .35rem; }
    .chips, .selects { display: contents; }
    .chips button { border-radius: 2rem; padding: .1rem .75rem; min-height: 2rem; font-size: .88rem; font-variant-numeric: tabular-nums; }
    .chips button[aria-pressed="true"] { background: var(--ink); color: var(--card); border-color: var(--ink); }
    .selects > * { width: auto; max-width: 11rem; font-size: .88rem; min-height: 2rem; padding-block: .1rem; border-radius: 2rem; }
    .grid { position: relative; }
    .tile {
      position: absolute; left: 0; top: 0; display: grid; grid-template-rows: minmax(0, 1fr) auto auto; text-align: left; padding: 0; overflow: hidden;
      border-radius: .6rem; contain: strict; will-change: transform;
    }
    .tile .view { position: relative; background: var(--well); overflow: hidden; display: grid; place-items: center; }
    .tile img { position: absolute; inset: 0; width: 100%; height: 100%; object-fit: cover; }
    .tile img:not([src]) { display: none; }
    .tile .glyph { font-size: 1.6rem; color: var(--quiet); line-height: 1; }
    .tile .progress { position: absolute; left: 0; right: 0; bottom: 0; height: 5px; background: var(--line); }
    .tile .progress i { display: block; height: 100%; background: var(--bar); transform-origin: 0 50%; transform: scaleX(0); }
    .tile[data-unknown] .progress i { transform: none; opacity: .45; }
    .tile:not([data-state="running"]) .progress { display: none; }
    .tile .name, .tile .state { display: block; padding: 0 .55rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    .tile .name { padding-top: .3rem; font-size: .88rem; direction: rtl; text-align: left; unicode-bidi: plaintext; }
    .tile .state { padding-bottom: .35rem; font-size: .82rem; color: var(--soft); font-variant-numeric: tabular-nums; }
    .tile[data-state="failed"] .state, .tile[data-state="failed"] .glyph { color: var(--bad); }
    .tile[data-state="waiting"] .state { color: var(--calm); }
    .tile[data-state="ok"] .state { color: var(--good); }
    .tile[data-empty] { visibility: visible; opacity: .45; }
    .empty { padding: 2.5rem 1rem; text-align: center; border: 1px dashed var(--line); border-radius: .8rem; }
    @media (max-width: 40rem) { .tools { position: static; grid-template-columns: minmax(0, 1fr); } }

    """

  private static let sheet = """
    dialog { color: var(--ink); background: var(--card); border: 1px solid var(--line); }
    dialog::backdrop { background: #0007; }
    .ask { border-radius: .9rem; padding: 1.2rem; max-width: min(26rem, calc(100vw - 2rem)); }
    .ask p { margin: 0 0 1rem; font-size: 1.05rem; }
    .ask .bar { justify-content: flex-end; }
    .sheet { margin: 0 0 0 auto; height: 100dvh; max-height: none; width: min(34rem, 100vw); max-width: none; border-width: 0 0 0 1px; padding: 0; }
    .sheethead { position: sticky; top: 0; background: var(--card); display: flex; gap: .6rem; align-items: start; justify-content: space-between;
      padding: 1rem 1rem .6rem; border-bottom: 1px solid var(--line); }
    .sheethead h2 { font-size: 1.1rem; margin: .35rem 0 0; overflow-wrap: anywhere; }
    #sheetbody { padding: 1rem; display: grid; gap: 1rem; }
    #sheetbody h3 { font-size: .9rem; margin: 0 0 .4rem; }
    .sheet img { display: block; max-width: 100%; max-height: 20rem; margin: 0 auto; border-radius: .5rem; background: var(--well); }
    .facts { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: .25rem .9rem; margin: 0; }
    .facts dt { color: var(--soft); } .facts dd { margin: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
    .trouble { border-left: 3px solid var(--bad); padding: .2rem 0 .2rem .8rem; overflow-wrap: anywhere; }
    .trouble b { color: var(--bad); }
    .story { list-style: none; margin: 0; padding: 0; font-size: .9rem; }
    .story li { display: grid; grid-template-columns: 5rem minmax(0, 1fr); gap: .6rem; padding: .35rem 0; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
    .story time { color: var(--soft); font-variant-numeric: tabular-nums; text-align: right; }
    .spans { display: grid; grid-template-columns: auto minmax(0, 1fr) auto; gap: .3rem .7rem; align-items: center; font-size: .9rem; }
    .spans i { display: block; height: .6rem; min-width: 2px; border-radius: .3rem; background: var(--bar); }
    .spans span:nth-child(3n) { text-align: right; font-variant-numeric: tabular-nums; color: var(--soft); }
    code { font: .92em ui-monospace, "SF Mono", Menlo, Consolas, monospace; overflow-wrap: anywhere; }
    """
}
