/// How a report looks, in light and dark, from a telephone to a wide screen.
enum ReportStyle {
  static let css = """
    :root {
      color-scheme: light dark;
      --ground: #fbfbfa; --card: #ffffff; --ink: #1c1d1f; --soft: #62666d; --line: #e3e4e6;
      --good: #1a7f4b; --bad: #b42318; --calm: #6b5b00; --bar: #2f6fde;
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --ground: #131417; --card: #1c1e22; --ink: #e9eaec; --soft: #a0a5ad; --line: #303339;
        --good: #4cc38a; --bad: #ff8177; --calm: #e2c04b; --bar: #6ea0ff;
      }
    }
    * { box-sizing: border-box; }
    body {
      margin: 0; background: var(--ground); color: var(--ink);
      font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
    }
    main { max-width: 72rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
    h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 .4rem; overflow-wrap: anywhere; }
    h2 { font-size: 1.15rem; margin: 2.2rem 0 .8rem; }
    p { margin: .3rem 0; }
    header p, small, .ends, section > p { color: var(--soft); }
    code { font: .92em ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
    .badge { border: 1px solid currentColor; border-radius: 1rem; padding: .1rem .7rem; font-weight: 600; }
    .good { color: var(--good); } .bad { color: var(--bad); } .calm { color: var(--calm); }
    header .diagnostic { color: var(--bad); overflow-wrap: anywhere; }
    .tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: .7rem; margin: 1.4rem 0 0; }
    .tiles div, .chart, .scroll, .pictures figure {
      background: var(--card); border: 1px solid var(--line); border-radius: .6rem;
    }
    .tiles div { display: flex; flex-direction: column; padding: .7rem .9rem; }
    .tiles dd { margin: 0; font-size: 1.45rem; font-weight: 600; font-variant-numeric: tabular-nums; }
    .tiles dt { color: var(--soft); font-size: .9rem; }
    .charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); gap: .7rem; }
    .chart { margin: 0; padding: .8rem .9rem .5rem; }
    .chart figcaption { display: flex; justify-content: space-between; gap: 1rem; font-weight: 600; margin-bottom: .6rem; }
    .chart small { font-weight: 400; }
    .chart svg { display: block; width: 100%; height: 8rem; }
    .chart rect { fill: var(--bar); }
    .chart .axis { stroke: var(--line); stroke-width: 1; vector-effect: non-scaling-stroke; }
    .ends { display: flex; justify-content: space-between; font-size: .85rem; }
    .scroll { overflow-x: auto; }
    table { border-collapse: collapse; width: 100%; }
    th, td { text-align: left; vertical-align: top; padding: .5rem .9rem; border-top: 1px solid var(--line); }
    thead th { border-top: 0; color: var(--soft); font-weight: 500; font-size: .9rem; white-space: nowrap; }
    td { overflow-wrap: anywhere; min-width: 7.5rem; }
    td:last-child:not(.number) { min-width: 14rem; }
    td.number { min-width: 0; }
    td code, .number { white-space: nowrap; }
    .number { text-align: right; font-variant-numeric: tabular-nums; }
    details { margin-top: .8rem; }
    summary { cursor: pointer; padding: .3rem 0; }
    section > p { margin-bottom: .7rem; }
    .pictures { display: grid; grid-template-columns: repeat(auto-fill, minmax(8rem, 1fr)); gap: .7rem; }
    .pictures figure { margin: 0; overflow: hidden; }
    .pictures img { display: block; width: 100%; aspect-ratio: 1; object-fit: contain; background: var(--ground); }
    .pictures figcaption { padding: .35rem .6rem; font-size: .8rem; overflow-wrap: anywhere; }
    @media print { .scroll { overflow: visible; } details { display: none; } }
    """
}
