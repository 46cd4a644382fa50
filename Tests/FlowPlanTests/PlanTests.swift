import FlowBase
import FlowManifest
import FlowParts
import FlowPlan
import Testing

@Suite struct PlanTests {
  @Test func `A small manifest becomes a plan of a stage after the other`() throws {
    let reading = Reading(
      """
      imgflow: 1
      sources:
        - file: { path: people.csv, url: "${row.avatar}", key: "${row.id}" }
      stages:
        - fetch
        - resize: { width: 256, format: webp }
        - store: "${item.key}.webp"
      """)
    #expect(reading.text == "")
    let plan = try #require(reading.plan)
    #expect(plan.sources.map(\.id) == ["file"])
    #expect(plan.stages.map(\.id) == ["fetch", "resize", "store"])
    #expect(plan.stages.map(\.needs) == [[], [0], [1]])
    #expect(plan.nodes.map(\.inputs) == [[], [0], [1]])
    #expect(plan.nodes[1].config.int("width") == 256)
    #expect(plan.settings.outputFolder == "/site/out")
    #expect(plan.state.folder == "/site/.imgflow")
  }

  @Test func `The large manifest of the guide becomes a plan`() throws {
    let reading = Reading(LargeManifest.text) { inputs in
      inputs.environment = ["CDN_HOST": "cdn.example.com", "CDN_TOKEN": "t0ken"]
      inputs.readFile = { $0 == "/run/secrets/hook" ? "whsec_x\n" : nil }
    }
    #expect(reading.text == "")
    let plan = try #require(reading.plan)
    #expect(plan.stages.first { $0.id == "thumbs" }?.legs.count == 5)
  }
}

enum LargeManifest {
  static let text = """
    imgflow: 1
    name: catalog_images
    vars:
      sizes:  { type: list, default: [64, 256, 1024] }
      season: { type: string, default: spring, enum: [spring, summer] }
    env: [CDN_HOST, { name: REGION, default: eu }]
    secrets: { CDN_TOKEN: {}, HOOK: { file: /run/secrets/hook } }
    output: { dir: ./out, on_exists: keep }
    limits: { connections: 64, bandwidth: 50MB/s, memory: 1GB, temp: 10GB, pools: { gpu: 1 } }
    offline: pause
    hosts:
      "*":               { connections: 6, rate: 20/s, user_agent: "catalog (ops@example.com)" }
      cdn.example.com:   { connections: 32, streams: 64, auth: { bearer: "${secret.CDN_TOKEN}" } }
      images.museum.org: { connections: 1, interval: 2s }
      10.0.0.0/8:        { allow: true }
    sources:
      - https://example.com/logo.png
      - id: products
        file: { path: data/products.csv, url: "https://${env.CDN_HOST}/${row.sku}.jpg", key: "${row.sku}", types: { weight: number } }
        where: row.weight > 0
      - id: banners
        template:
          url: "https://${env.CDN_HOST}/${vars.season}/${for.slot}/${for.n}.png"
          for: { slot: [hero, side], n: 1..40 }
    stages:
      - fetch: { accept: image/*, max_bytes: 50MB }
        concurrency: 7
        timeout: 30s
        retry: { attempts: 5, backoff: 500ms..60s, classes: [transient, quota] }
      - probe
      - filter: item.width >= 256 and item.media != 'image/gif'
      - id: thumbs
        resize: { width: "${matrix.w}", format: "${matrix.fmt}", quality: 82 }
        matrix: { w: "${vars.sizes}", fmt: [webp, jpeg], exclude: [{ w: 64, fmt: jpeg }] }
      - store: "${item.source}/${item.key | slug}/${matrix.w}.${matrix.fmt}"
      - id: sheet
        montage: { columns: 6, path: "sheets/${group | slug}.jpg" }
        needs: store
        per: { group: row.category }
      - id: index
        report: { path: index.csv, columns: [key, url, sha256, width, height, path] }
        needs: [store, sheet]
        if: always
      - id: publish
        exec: [rclone, copy, "${output.dir}", "remote:catalog"]
        needs: index
        per: run
        if: run.failed_ratio < 0.02
    fail_if: run.failed_ratio > 0.02
    stop_if: run.failed > 500
    state: { dir: .imgflow, rerun_on: [input, config, plugin, output_missing] }
    sinks:
      - ndjson: { to: stdout }
        events: ["run.*", item.end, item.error]
      - log: { to: run.log, level: info }
      - webhook: { url: https://ci.example.com/hooks/imgflow, secret: "${secret.HOOK}" }
        events: [run.end, item.error]
        required: true
    profiles:
      ci:  { limits: { connections: 16 } }
      try: { sample: 20, output: { dir: ./try } }
    """
}
