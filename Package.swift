// swift-tools-version: 6.3
// One target per module of `Sources/`; arrows go down only (Sources/ARCHITECTURE.md, TidyTests).
import PackageDescription

// MARK: - C: module maps, shims and generated messages

let c: [Target] = [
    .systemLibrary(name: "CZMQ", path: "Sources/System/CZMQ"),
    .systemLibrary(name: "CSQLite", path: "Sources/System/CSQLite"),
    .systemLibrary(name: "CCurl", path: "Sources/System/CCurl"),
    .systemLibrary(name: "CXXHash", path: "Sources/System/CXXHash"),
    .systemLibrary(name: "CSodium", path: "Sources/System/CSodium"),
    .systemLibrary(name: "CMicroHTTPD", path: "Sources/System/CMicroHTTPD"),
    .systemLibrary(name: "CDeflate", path: "Sources/Codecs/CDeflate"),
    .systemLibrary(name: "CZlib", path: "Sources/System/CZlib"),
    .systemLibrary(name: "COpenSSL", path: "Sources/System/COpenSSL"),
    .systemLibrary(name: "CNettle", path: "Sources/System/CNettle"),
    .systemLibrary(name: "CSeccomp", path: "Sources/System/CSeccomp"),
    .systemLibrary(name: "CYAML", path: "Sources/System/CYAML"),
    .systemLibrary(name: "CJansson", path: "Sources/System/CJansson"),
    .systemLibrary(name: "CVips", path: "Sources/Codecs/CVips", pkgConfig: "gobject-2.0"),
    .systemLibrary(name: "CRSVG", path: "Sources/Codecs/CRSVG", pkgConfig: "librsvg-2.0"),
    .systemLibrary(name: "CPixbuf", path: "Sources/Codecs/CPixbuf", pkgConfig: "gdk-pixbuf-2.0"),
    .target(name: "CLinux", path: "Sources/System/CLinux"),
    .target(name: "CPNGFilters", path: "Sources/Codecs/CPNGFilters"),
    .target(name: "CPNG", path: "Sources/Codecs/CPNG", linkerSettings: [.linkedLibrary("png16")]),
    .target(name: "CVipsShims", dependencies: ["CVips"], path: "Sources/Codecs/CVipsShims"),
    .target(name: "CRSVGShims", dependencies: ["CRSVG"], path: "Sources/Codecs/CRSVGShims"),
    .target(name: "CPixbufShims", dependencies: ["CPixbuf"], path: "Sources/Codecs/CPixbufShims"),
    .target(
        name: "CJPEG", path: "Sources/Codecs/CJPEG", linkerSettings: [.linkedLibrary("jpeg")]),
    .target(
        name: "CZimg", path: "Sources/Codecs/CZimg",
        linkerSettings: [.linkedLibrary("zimg"), .linkedLibrary("m")]),
    .target(
        name: "CWebP", path: "Sources/Codecs/CWebP",
        linkerSettings: [.linkedLibrary("webp"), .linkedLibrary("webpmux")]),
    .target(
        name: "CAVIF", path: "Sources/Codecs/CAVIF", linkerSettings: [.linkedLibrary("avif")]),
    .target(
        name: "CMessages", path: "Sources/System/CMessages",
        linkerSettings: [.linkedLibrary("protobuf-c")]),
]

// MARK: - Swift modules

/// A module in a folder of `Sources`: `Layer/Name`, or `Name` if it is in `Core`.
func module(_ folder: String, _ dependencies: [Target.Dependency]) -> Target {
    let name = folder.split(separator: "/").last.map(String.init) ?? folder
    return .target(name: name, dependencies: dependencies, path: "Sources/\(folder)")
}

let bindings: [Target] = [
    module("System/Linux", ["CLinux"]),
    module("System/ZeroMQ", ["CZMQ"]),
    module("System/SQLite", ["CSQLite"]),
    module("System/Curl", ["CCurl"]),
    module("System/XXHash", ["CXXHash"]),
    module("System/Sodium", ["CSodium"]),
    module("System/MicroHTTPD", ["CMicroHTTPD"]),
    module("Codecs/CodecSupport", []),
    module("Codecs/PNGFilters", ["CPNGFilters"]),
    module("Codecs/PNG", ["CPNG", "CodecSupport"]),
    module("Codecs/Vips", ["CVips", "CVipsShims"]),
    module("Codecs/RSVG", ["CRSVG", "CRSVGShims", "CodecSupport"]),
    module("Codecs/Pixbuf", ["CPixbuf", "CPixbufShims", "CodecSupport"]),
    module("Codecs/JPEG", ["CJPEG", "CodecSupport"]),
    module("Codecs/Zimg", ["CZimg", "CodecSupport"]),
    module("Codecs/Deflate", ["CDeflate"]),
    module("System/Zlib", ["CZlib"]),
    module("System/OpenSSL", ["COpenSSL"]),
    module("System/Nettle", ["CNettle"]),
    module("Codecs/WebP", ["CWebP", "CodecSupport"]),
    module("Codecs/AVIF", ["CAVIF", "CodecSupport"]),
    module("System/Seccomp", ["CSeccomp"]),
    module("System/YAML", ["CYAML"]),
    module("System/JSON", ["CJansson"]),
]

/// The module of data.
let core: [Target] = [
    module("Model", [])
]

let runtime: [Target] = [
    module("Runtime/Wire", ["CMessages", "Model"]),
    module("Runtime/ProcessRuntime", ["Linux", "ZeroMQ", "Model", "Wire"]),
    module("Runtime/Sandbox", ["Linux", "Seccomp", "Model", "ProcessRuntime"]),
    module("Runtime/ConfigurationFile", ["YAML", "Linux", "Model"]),
    module(
        "Runtime/Coordinator",
        ["Linux", "ZeroMQ", "Sodium", "Model", "ConfigurationFile", "Wire", "ProcessRuntime"]),
    module("Runtime/Supervision", ["Linux", "ZeroMQ", "Model", "Wire", "ProcessRuntime"]),
]

let stages: [Target] = [
    module(
        "Stages/Downloading",
        ["Curl", "Zlib", "OpenSSL", "Linux", "Model"]),
    module(
        "Stages/Caching",
        ["SQLite", "XXHash", "Nettle", "Linux", "Model"]),
    module(
        "Stages/Decoding",
        [
            "CodecSupport", "Vips", "RSVG", "Pixbuf", "JPEG", "PNG", "WebP", "AVIF", "Zimg",
            "Deflate", "Model",
        ]),
    module(
        "Stages/Transforming",
        [
            "CodecSupport", "Vips", "JPEG", "Zimg", "PNGFilters", "Deflate", "WebP", "AVIF",
            "Model",
        ]),
]

let client: [Target] = [
    module(
        "Client/Imagebus",
        ["Linux", "ZeroMQ", "Model", "Wire", "ProcessRuntime"]),
    // The stage that makes pixels makes them here, too: the same steps, the same pixels.
    module(
        "Client/ImagebusTransforms",
        ["Transforming", "Vips", "Model"]),
    // What only those link who have Foundation in any case.
    module("Client/ImagebusFoundation", ["Imagebus", "Model"]),
]

/// SDK for external programs that do a part of the stack's work.
let kit: [Target] = [
    module(
        "Kit/ImagebusWorker",
        ["ProcessRuntime", "Model", "Linux", "Sodium", "Wire"])
]

/// What programs share that are used by people, or that speak for them.
let fronts: [Target] = [
    module("Fronts/Reporting", ["JSON", "Model", "ProcessRuntime"]),
    module(
        "Fronts/CommandLineInterface",
        [
            "Linux", "Model", "ConfigurationFile", "ProcessRuntime", "Supervision", "Imagebus",
            "Reporting",
        ]),
    module("Fronts/WebGrammar", ["Nettle", "Model"]),
    module(
        "Fronts/WebFront",
        [
            "WebGrammar", "Imagebus", "Model", "MicroHTTPD", "ProcessRuntime", "Linux", "Reporting",
            "JSON", "Nettle",
        ]),
]

/// The web component is a part of the program that serves it.
let modules = [
    "bus-image.js", "bus-image/animated.js", "bus-image/choice.js", "bus-image/lanes.js",
    "bus-image/loading.js", "bus-image/pace.js", "bus-image/places.js", "bus-image/player.js",
    "bus-image/prefetch.js", "bus-image/real-image.js", "bus-image/thumb-hash.js",
    "bus-image/view.js",
]
for target in fronts where target.name == "WebFront" {
    target.resources = modules.map { .embedInCode("Component/\($0)") }
    target.exclude = ["Component/bus-image.d.ts"]
}

func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: dependencies, path: "Sources/Programs/\(name)")
}

let worker: [Target.Dependency] = ["ProcessRuntime", "Model", "Linux"]
let programs: [Target] = [
    program(
        "imagebus-cli",
        [
            "Imagebus", "Supervision", "ProcessRuntime", "Model", "Linux", "JSON",
            "ConfigurationFile", "Reporting", "CommandLineInterface",
        ]),
    program(
        "imagebus-bench",
        ["Imagebus", "CommandLineInterface", "Reporting", "MicroHTTPD", "Model", "Linux"]),
    program(
        "imagebus-gateway",
        [
            "WebFront", "WebGrammar", "Imagebus", "Model", "MicroHTTPD", "ProcessRuntime", "Linux",
            "Sandbox",
        ]),
    program("imagebus-coordinator", ["Coordinator", "Linux"]),
    program("imagebus-download", worker + ["Downloading"]),
    program("imagebus-cache", worker + ["Caching"]),
    program("imagebus-decode", worker + ["Decoding", "Sandbox"]),
    program("imagebus-transform", worker + ["Transforming", "Sandbox"]),
]

// MARK: - Examples

let examples: [Target] = [
    .executableTarget(
        name: "thumbnailer", dependencies: ["Imagebus"], path: "Examples/Thumbnailer")
]

/// External programs, which none of our containers has.
let extensions: [Target] = [
    ("qoi-coder", "QOI"), ("qoi-encoder", "QOIEncoder"), ("dictionary-cache", "DictionaryCache"),
].map { .executableTarget(name: $0, dependencies: ["ImagebusWorker"], path: "Examples/\($1)") }

// MARK: - Tests

func tests(
    _ name: String, _ dependencies: [Target.Dependency], documents: [String] = []
) -> Target {
    .testTarget(
        name: name, dependencies: dependencies, path: "Tests/\(name)", exclude: documents)
}

let testing: [Target] = [
    .target(
        name: "StageKit", dependencies: ["Model"],
        path: "Tests/StageKit"),
    .target(
        name: "StackKit",
        dependencies: ["Imagebus", "Model", "Linux", "Vips", "TestKit"],
        path: "Tests/StackKit"),
    tests("LinuxTests", ["Linux", "TestKit"]),
    tests("ZeroMQTests", ["ZeroMQ", "Linux", "TestKit"]),
    tests("SQLiteTests", ["SQLite", "Linux"]),
    tests("XXHashTests", ["XXHash"]),
    tests("NettleTests", ["Nettle"]),
    tests("SodiumTests", ["Sodium"]),
    tests("CurlTests", ["Curl", "TestKit"]),
    tests("MicroHTTPDTests", ["MicroHTTPD", "Linux", "TestKit"]),
    tests("PNGFiltersTests", ["PNGFilters"]),
    tests("VipsTests", ["Vips"]),
    tests("JPEGTests", ["JPEG", "CodecSupport", "Vips", "TestKit"]),
    tests("ZimgTests", ["Zimg", "CodecSupport"]),
    tests("DeflateTests", ["Deflate", "Vips"]),
    tests("ZlibTests", ["Zlib"]),
    tests("WebPTests", ["WebP", "CodecSupport", "Vips"]),
    tests("AVIFTests", ["AVIF", "CodecSupport", "TestKit"]),
    tests("SeccompTests", ["Seccomp"]),
    tests("YAMLTests", ["YAML"]),
    tests("JSONTests", ["JSON"]),
    tests("ModelTests", ["Model", "TestKit"]),
    tests(
        "ConfigurationFileTests",
        ["ConfigurationFile", "Model", "Linux", "TestKit"]),
    tests(
        "SchedulingTests",
        ["Coordinator", "Model", "TestKit"]),
    tests("WireTests", ["Wire", "CMessages", "Model", "TestKit"]),
    tests("ProcessRuntimeTests", ["ProcessRuntime", "ZeroMQ", "Linux", "Model", "TestKit"]),
    tests(
        "ImagebusWorkerTests",
        [
            "ImagebusWorker", "ProcessRuntime", "Model", "Linux", "TestKit", "qoi-coder",
            "dictionary-cache",
        ]),
    tests(
        "CoordinatorRuntimeTests",
        [
            "Coordinator", "Wire", "Model", "ZeroMQ", "Linux", "ProcessRuntime",
            "ConfigurationFile", "TestKit",
        ]),
    tests("SupervisionTests", ["Supervision", "ProcessRuntime", "Model", "Linux", "TestKit"]),
    tests(
        "WebFrontTests",
        [
            "WebFront", "WebGrammar", "Imagebus", "ProcessRuntime", "Linux", "Model", "JSON",
            "MicroHTTPD", "TestKit",
        ]),
    tests(
        "WebGrammarTests", ["WebGrammar", "Model", "Nettle", "TestKit"],
        documents: ["Thumbor/signed1.txt", "Thumbor/signed2.txt"]),
    tests("ReportingTests", ["Reporting", "Model", "TestKit"]),
    tests(
        "CommandLineTests",
        [
            "imagebus-cli", "CommandLineInterface", "Reporting", "Supervision", "ProcessRuntime",
            "Imagebus", "Model", "Linux", "TestKit",
        ]),
    tests(
        "BenchTests",
        [
            "imagebus-bench", "CommandLineInterface", "Reporting", "Imagebus", "Model", "Linux",
            "TestKit",
        ]),
    tests(
        "DownloadingTests",
        ["Downloading", "Curl", "Model", "StageKit", "Linux", "TestKit"]),
    tests(
        "CachingTests",
        ["Caching", "SQLite", "XXHash", "Model", "Linux", "TestKit"]),
    tests(
        "DecodingTests",
        ["Decoding", "Model", "PNG", "Vips", "Linux", "StageKit", "TestKit"]),
    tests(
        "TransformingTests",
        [
            "Transforming", "CodecSupport", "Deflate", "Vips", "Zimg", "Model", "StageKit",
            "Linux", "TestKit",
        ]),
    tests(
        "LaneTests",
        [
            "Decoding", "Transforming", "CodecSupport", "Vips", "JPEG", "Model", "StageKit",
            "Linux", "TestKit",
        ]),
    tests(
        "SandboxTests",
        ["sandbox-probe", "Sandbox", "ProcessRuntime", "Model", "Linux", "TestKit"]),
    tests(
        "ImagebusTests",
        ["Imagebus", "Wire", "ProcessRuntime", "Model", "Linux", "StackKit", "TestKit"]),
    tests("ImagebusTransformsTests", ["ImagebusTransforms", "TestKit"]),
    tests(
        "ImagebusFoundationTests",
        ["ImagebusFoundation", "Model", "TestKit"]),
    tests("TidyTests", ["TestKit"]),
    tests("DeploymentTests", ["TestKit"]),
    .target(
        name: "FuzzTargets",
        dependencies: [
            "Wire", "Coordinator", "Model", "Decoding", "WebFront", "WebGrammar", "Nettle",
        ],
        path: "Tests/Fuzz/Targets"),
    .testTarget(
        name: "FuzzReplayTests", dependencies: ["FuzzTargets", "TestKit"],
        path: "Tests/Fuzz/Replay"),
    tests(
        "IntegrationTests",
        [
            "Imagebus", "ImagebusFoundation", "Model", "Linux", "TestKit", "StackKit", "ZeroMQ",
            "Wire", "ProcessRuntime", "SQLite", "StageKit",
        ]),
    tests(
        "ConformanceTests",
        [
            "CommandLineInterface", "Imagebus", "Model", "TestKit", "StackKit", "imagebus-cli",
        ],
        documents: ["CASES.md", "CONFIGURATION.md", "OPTIONS.md", "PEERS.md"]),
]

/// Programs that the tests and docker/test start, with the modules that they are made of.
let testPrograms: [Target] = [
    .target(
        name: "TestKit", dependencies: ["Linux"], path: "Tests/TestKit",
        exclude: ["Animations/animations.py", "Animations/hostile.py"]),
    .target(name: "SandboxAttempts", path: "Tests/SandboxProbe/Attempts"),
    .executableTarget(
        name: "sandbox-probe",
        dependencies: ["Sandbox", "SandboxAttempts", "ProcessRuntime", "Model", "Linux"],
        path: "Tests/SandboxProbe/Program"),
    .executableTarget(
        name: "stack-origin", dependencies: ["TestKit", "Linux"], path: "Tests/StackTools/Origin"),
    .executableTarget(
        name: "extension-probe", dependencies: ["ImagebusWorker", "Linux"],
        path: "Tests/ExtensionProbe"),
    .executableTarget(
        name: "stack-load", dependencies: ["Imagebus", "Model", "Linux"],
        path: "Tests/StackTools/Load"),
]

/// Only `scripts/fuzz` asks for it: its main function is libFuzzer's.
let fuzzing: [Target] =
    Context.environment["IMAGEBUS_FUZZ"] == nil
    ? []
    : [
        .executableTarget(
            name: "imagebus-fuzz", dependencies: ["FuzzTargets"], path: "Tests/Fuzz/Driver")
    ]

/// `scripts/build` asks for programs alone: tests cannot be linked with the Swift library inside.
let parts = Context.environment["IMAGEBUS_PARTS"] ?? "all"
let beside: [Target] =
    switch parts {
    case "programs": examples
    case "test-programs": examples + extensions + testPrograms
    default: examples + extensions + testPrograms + testing + fuzzing
    }
let productsBeside: [Product] =
    parts == "programs"
    ? [] : extensions.map { .executable(name: $0.name, targets: [$0.name]) }

let package = Package(
    name: "imagebus",
    products: [
        .library(name: "Imagebus", targets: ["Imagebus"]),
        .library(name: "ImagebusTransforms", targets: ["ImagebusTransforms"]),
        .library(name: "ImagebusFoundation", targets: ["ImagebusFoundation"]),
        .library(name: "ImagebusWorker", targets: ["ImagebusWorker"]),
        .executable(name: "imagebus", targets: ["imagebus-cli"]),
        .executable(name: "thumbnailer", targets: ["thumbnailer"]),
    ] + productsBeside,
    targets: c + bindings + core + runtime + stages + client + kit + fronts + programs + beside,
    swiftLanguageModes: [.v6]
)

let compiled: Set<String> = Set(c.map(\.name) + ["SandboxAttempts"])
for target in package.targets where !compiled.contains(target.name) {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .enableUpcomingFeature("InferIsolatedConformances"),
        .enableExperimentalFeature("Lifetimes"),
        .treatAllWarnings(as: .error),
    ]
}

// Only debug builds check at run time that accesses to the coordinator's objects don't overlap:
// one thread uses them, and the checks took a fifth of the instructions of a cold image.
for target in package.targets where target.name == "Coordinator" {
    target.swiftSettings?.append(
        .unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release)))
}
