// swift-tools-version: 6.3
import PackageDescription

/// What every target of the house is compiled with.
let house: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InferIsolatedConformances"),
  .treatAllWarnings(as: .error),
  .strictMemorySafety(),
]

/// A C library, reached through the module map and shim in its folder.
func door(_ name: String, pkgConfig: String, apt: String) -> Target {
  .systemLibrary(
    name: name, path: "Sources/Doors/\(name)", pkgConfig: pkgConfig, providers: [.apt([apt])])
}

/// A C library that is loaded on first use: a table of its functions, without a build-time dependency on it.
func lateDoor(_ name: String) -> Target {
  .target(name: name, path: "Sources/Doors/\(name)", linkerSettings: [.linkedLibrary("dl")])
}

/// C of our own: what neither a library has nor Swift can say.
///
/// Its inner loops are useless without the optimizer, in tests as well.
func ownDoor(_ name: String) -> Target {
  .target(name: name, path: "Sources/Doors/\(name)", cSettings: [.unsafeFlags(["-O2"])])
}

/// A library on one of the floors; the targets that it may import are also listed in tools/arrows.txt.
func room(_ floor: String, _ name: String, _ imports: [Target.Dependency] = []) -> Target {
  .target(
    name: name, dependencies: imports, path: "Sources/\(floor)/\(name)", swiftSettings: house)
}

/// The tests of one library, in a folder of the same name.
func tests(_ name: String, _ imports: [Target.Dependency]) -> Target {
  .testTarget(name: name, dependencies: imports, path: "Tests/\(name)", swiftSettings: house)
}

/// A program beside `imgflow`: a benchmark, a fuzz target, the gallery.
func program(_ name: String, at path: String, _ imports: [Target.Dependency]) -> Target {
  .executableTarget(name: name, dependencies: imports, path: path, swiftSettings: house)
}

let package = Package(
  name: "imgflow",
  products: [
    .library(name: "ImgFlow", targets: ["ImgFlow"]),
    .executable(name: "imgflow", targets: ["imgflow"]),
  ],
  targets: [
    // Doors
    door("CYAML", pkgConfig: "yaml-0.1", apt: "libyaml-dev"),
    door("CCrypto", pkgConfig: "libcrypto", apt: "libssl-dev"),
    door("CSQLite", pkgConfig: "sqlite3", apt: "libsqlite3-dev"),
    door("CZlib", pkgConfig: "zlib", apt: "zlib1g-dev"),
    door("CBrotli", pkgConfig: "libbrotlidec", apt: "libbrotli-dev"),
    door("CZstd", pkgConfig: "libzstd", apt: "libzstd-dev"),
    .systemLibrary(name: "CLua", path: "Sources/Doors/CLua", providers: [.apt(["liblua5.4-dev"])]),
    .systemLibrary(name: "CPosix", path: "Sources/Doors/CPosix"),
    lateDoor("CVips"),
    lateDoor("CTurboJPEG"),
    lateDoor("CXML"),
    lateDoor("CArchive"),
    lateDoor("CCurl"),
    ownDoor("CLanes"),

    // Base
    room("Base", "FlowBase", ["CCrypto", "CLanes", "CPosix"]),

    // Engines
    room("Engines", "FlowYAML", ["FlowBase", "CYAML"]),
    room("Engines", "FlowRecords", ["FlowBase", "CZlib", "CBrotli", "CZstd"]),
    room("Engines", "FlowMarkup", ["FlowBase", "FlowRecords", "CXML"]),
    room("Engines", "FlowTransfer", ["FlowBase", "FlowRecords", "CCurl"]),
    room("Engines", "FlowArchive", ["FlowBase", "CArchive"]),
    room("Engines", "FlowStore", ["FlowBase", "CSQLite"]),
    room("Engines", "FlowScript", ["FlowBase", "CLua"]),
    room("Engines", "FlowServe", ["FlowBase"]),
    room("Engines", "FlowImage", ["FlowBase", "CVips", "CTurboJPEG"]),

    // Core
    room("Core", "FlowEvents", ["FlowBase"]),
    room("Core", "FlowExpressions", ["FlowBase"]),
    room("Core", "FlowParts", ["FlowBase", "FlowEvents", "FlowExpressions"]),

    // Flow
    room("Flow", "FlowManifest", ["FlowBase", "FlowYAML"]),
    room("Flow", "FlowPlan", ["FlowBase", "FlowYAML", "FlowExpressions", "FlowParts", "FlowManifest"]),
    room("Flow", "FlowGraph", ["FlowBase"]),
    room(
      "Flow", "FlowRun",
      ["FlowBase", "FlowEvents", "FlowExpressions", "FlowParts", "FlowPlan", "FlowGraph", "FlowStore"]),

    // Parts
    room(
      "Parts", "FlowBuiltins",
      [
        "FlowBase", "FlowEvents", "FlowExpressions", "FlowMarkup", "FlowParts", "FlowRecords", "FlowTransfer",
        "FlowScript", "FlowServe", "FlowImage", "FlowArchive",
      ]),

    room(
      "Parts", "FlowPlugins", ["FlowBase", "FlowEvents", "FlowExpressions", "FlowParts", "FlowYAML"]),

    // App
    room(
      "App", "ImgFlow",
      [
        "FlowBase", "FlowEvents", "FlowExpressions", "FlowParts", "FlowPlan", "FlowManifest", "FlowYAML", "FlowRun",
        "FlowBuiltins", "FlowPlugins",
      ]),
    room(
      "App", "FlowCLI",
      [
        "FlowBase", "FlowEvents", "FlowExpressions", "FlowParts", "FlowYAML", "FlowManifest", "FlowPlan", "FlowGraph",
        "FlowRun", "FlowStore", "FlowBuiltins", "FlowPlugins", "FlowImage",
      ]),
    program("imgflow", at: "Sources/App/imgflow", ["FlowCLI"]),

    // Testing
    room("Testing", "FlowTesting", ["FlowBase", "FlowEvents", "FlowParts", "FlowRecords"]),
    program("gallery", at: "Sources/Testing/gallery", ["FlowBase", "FlowTesting"]),
    program("tint", at: "examples/swift/acme.tint/Sources", ["ImgFlow"]),

    // Tests
    tests("FlowBaseTests", ["FlowBase"]),
    tests("FlowYAMLTests", ["FlowYAML", "FlowBase"]),
    tests("FlowRecordsTests", ["FlowRecords", "FlowBase"]),
    tests("FlowMarkupTests", ["FlowMarkup", "FlowRecords", "FlowBase"]),
    tests("FlowTransferTests", ["FlowTransfer", "FlowTesting", "FlowBase"]),
    tests("FlowStoreTests", ["FlowStore", "FlowBase"]),
    tests("FlowScriptTests", ["FlowScript", "FlowBase"]),
    tests("FlowServeTests", ["FlowServe", "FlowTesting", "FlowBase"]),
    tests("FlowImageTests", ["FlowImage", "FlowTesting", "FlowBase", "imgflow"]),
    tests("FlowEventsTests", ["FlowEvents", "FlowTesting", "FlowBase"]),
    tests("FlowExpressionsTests", ["FlowExpressions", "FlowBase"]),
    tests("FlowPartsTests", ["FlowParts", "FlowExpressions", "FlowBase"]),
    tests("FlowManifestTests", ["FlowManifest", "FlowYAML", "FlowBase"]),
    tests(
      "FlowPlanTests",
      ["FlowPlan", "FlowManifest", "FlowYAML", "FlowParts", "FlowExpressions", "FlowBuiltins", "FlowBase"]),
    tests("FlowGraphTests", ["FlowGraph", "FlowBase"]),
    tests(
      "FlowRunTests",
      [
        "FlowRun", "FlowGraph", "FlowPlan", "FlowManifest", "FlowYAML", "FlowParts", "FlowEvents", "FlowStore",
        "FlowBuiltins", "FlowImage", "FlowTesting", "FlowBase", "imgflow",
      ]),
    tests(
      "FlowBuiltinsTests", ["FlowBuiltins", "FlowParts", "FlowExpressions", "FlowEvents", "FlowTesting", "FlowBase"]),
    tests(
      "FlowPluginsTests",
      ["FlowPlugins", "FlowParts", "FlowExpressions", "FlowEvents", "FlowTesting", "FlowBase", "imgflow"]),
    tests("FlowCLITests", ["FlowCLI", "FlowBase", "FlowEvents"]),
    tests("ImgFlowTests", ["ImgFlow", "FlowTesting", "FlowBase"]),
    tests("CLITests", ["FlowTesting", "FlowEvents", "FlowParts", "FlowBase", "imgflow", "gallery", "tint"]),

    // Benchmarks
    program("store-bench", at: "Benchmarks/store-bench", ["FlowStore", "FlowBase"]),
    program("transfer-bench", at: "Benchmarks/transfer-bench", ["FlowTransfer", "FlowBase"]),
    program("event-bench", at: "Benchmarks/event-bench", ["FlowEvents", "FlowBase"]),
    program("picture-bench", at: "Benchmarks/picture-bench", ["FlowImage", "FlowBase"]),
    program("graph-bench", at: "Benchmarks/graph-bench", ["FlowGraph", "FlowBase"]),
    program("plugin-bench", at: "Benchmarks/plugin-bench", ["FlowPlugins", "FlowScript", "FlowBase"]),
    program("expression-bench", at: "Benchmarks/expression-bench", ["FlowExpressions", "FlowBase"]),
  ]
)

// The programs of Fuzz/ have no `main` but libFuzzer's, so the package makes libraries of them, and tools/fuzz links.
if Context.environment["FLOW_FUZZ"] != nil {
  let tried: [(name: String, imports: [Target.Dependency])] = [
    ("yaml", ["FlowBase", "FlowYAML"]), ("json", ["FlowBase"]), ("records", ["FlowBase", "FlowRecords"]),
    ("expression", ["FlowBase", "FlowExpressions"]), ("range", ["FlowBase", "FlowParts"]), ("address", ["FlowBase"]),
    ("picture", ["FlowBase", "FlowImage"]), ("request", ["FlowBase", "FlowServe"]),
  ]
  for (name, imports) in tried {
    package.products.append(.library(name: "fuzz-\(name)", type: .static, targets: ["fuzz-\(name)"]))
    package.targets.append(
      .target(
        name: "fuzz-\(name)", dependencies: imports, path: "Fuzz/\(name)", exclude: ["seeds"], swiftSettings: house))
  }
}
