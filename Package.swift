// swift-tools-version: 6.3
// One target per room of `Sources/`; arrows go down only (Sources/ARCHITECTURE.md, TidyTests).
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

// MARK: - Swift rooms

func room(_ folder: String, _ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, path: "Sources/\(folder)/\(name)")
}

let bindings: [Target] = [
    room("System", "Linux", ["CLinux"]),
    room("System", "ZeroMQ", ["CZMQ"]),
    room("System", "SQLite", ["CSQLite"]),
    room("System", "Curl", ["CCurl"]),
    room("System", "XXHash", ["CXXHash"]),
    room("System", "Sodium", ["CSodium"]),
    room("System", "MicroHTTPD", ["CMicroHTTPD"]),
    room("Codecs", "PNGFilters", ["CPNGFilters"]),
    room("Codecs", "PNG", ["CPNG"]),
    room("Codecs", "Vips", ["CVips", "CVipsShims"]),
    room("Codecs", "RSVG", ["CRSVG", "CRSVGShims"]),
    room("Codecs", "Pixbuf", ["CPixbuf", "CPixbufShims"]),
    room("Codecs", "JPEG", ["CJPEG"]),
    room("Codecs", "Zimg", ["CZimg"]),
    room("Codecs", "Deflate", ["CDeflate"]),
    room("System", "Zlib", ["CZlib"]),
    room("System", "OpenSSL", ["COpenSSL"]),
    room("System", "Nettle", ["CNettle"]),
    room("Codecs", "WebP", ["CWebP"]),
    room("Codecs", "AVIF", ["CAVIF"]),
    room("System", "Seccomp", ["CSeccomp"]),
    room("System", "YAML", ["CYAML"]),
    room("System", "JSON", ["CJansson"]),
]

let core: [Target] = [
    room("Core", "ImageModel", []),
    room("Core", "Animation", ["ImageModel"]),
    room("Core", "Messages", ["ImageModel"]),
    room("Core", "StageContract", ["ImageModel", "Messages"]),
    room("Core", "Tables", ["ImageModel", "Messages"]),
    room("Core", "Dispatching", ["ImageModel", "Messages", "Tables"]),
    room("Core", "Derivation", ["ImageModel", "Messages", "Tables", "Dispatching"]),
    room("Core", "Admission", ["ImageModel", "Messages", "Tables", "Dispatching", "Derivation"]),
    room("Core", "Configuration", ["ImageModel", "Messages"]),
]

let runtime: [Target] = [
    room("Runtime", "Observability", ["Linux"]),
    room(
        "Runtime", "ConfigurationFile",
        ["YAML", "Linux", "ImageModel", "Messages", "Configuration"]),
    room("Runtime", "Wire", ["CMessages", "ImageModel", "Messages"]),
    room("Runtime", "EventLoop", ["Linux", "ZeroMQ", "Messages"]),
    room("Runtime", "BusConnection", ["Linux", "ZeroMQ", "Messages", "Wire"]),
    room("Runtime", "Bootstrap", ["Linux", "Messages", "SharedArena", "Observability"]),
    room("Runtime", "SharedArena", ["Linux", "ImageModel", "Messages", "StageContract"]),
    room("Runtime", "ControlSegment", ["Linux", "Messages", "SharedArena"]),
    room(
        "Runtime", "Sandbox", ["Linux", "Seccomp", "Messages", "SharedArena", "Observability"]),
    room(
        "Runtime", "WorkerRuntime",
        [
            "Linux", "ZeroMQ", "ImageModel", "Messages", "StageContract", "Wire", "EventLoop",
            "ControlSegment", "SharedArena", "Observability", "Bootstrap", "BusConnection",
        ]),
    room(
        "Runtime", "CoordinatorRuntime",
        [
            "Linux", "ZeroMQ", "Sodium", "ImageModel", "Messages", "StageContract", "Dispatching",
            "Derivation", "Admission", "Configuration", "ConfigurationFile", "Wire", "EventLoop",
            "ControlSegment",
            "SharedArena", "Observability", "Bootstrap", "BusConnection",
        ]),
    room(
        "Runtime", "Supervision",
        [
            "ControlSegment", "BusConnection", "Wire", "ZeroMQ", "Linux", "ImageModel", "Messages",
            "SharedArena", "Observability",
        ]),
]

let stages: [Target] = [
    room(
        "Stages", "Downloading",
        [
            "Curl", "Zlib", "OpenSSL", "Linux", "ImageModel", "Messages", "StageContract",
            "Configuration",
        ]),
    room(
        "Stages", "Caching",
        ["SQLite", "XXHash", "Nettle", "Linux", "ImageModel", "Messages", "StageContract"]),
    room(
        "Stages", "Decoding",
        [
            "Vips", "RSVG", "Pixbuf", "JPEG", "PNG", "WebP", "AVIF", "Zimg", "Deflate",
            "Animation", "ImageModel", "Messages", "StageContract",
        ]),
    room(
        "Stages", "Transforming",
        [
            "Vips", "JPEG", "Zimg", "PNGFilters", "Deflate", "WebP", "AVIF", "Animation",
            "ImageModel", "Messages", "StageContract",
        ]),
]

let client: [Target] = [
    room(
        "Client", "Imagebus",
        [
            "Linux", "ZeroMQ", "Zlib", "ImageModel", "Animation", "Messages", "Wire", "EventLoop",
            "SharedArena", "BusConnection",
        ]),
    // The stage that makes pixels makes them here, too: the same steps, the same pixels.
    room(
        "Client", "ImagebusTransforms",
        ["Transforming", "Vips", "StageContract", "ImageModel", "Messages"]),
    // What only those link who have Foundation in any case.
    room("Client", "ImagebusFoundation", ["Imagebus", "ImageModel", "Messages"]),
]

/// SDK for external programs that do a part of the stack's work.
let kit: [Target] = [
    room(
        "Kit", "ImagebusWorker",
        [
            "WorkerRuntime", "EventLoop", "Bootstrap", "SharedArena", "Observability",
            "StageContract", "Messages", "ImageModel", "Linux", "Sodium", "Wire",
        ])
]

/// What programs share that are used by people, or that speak for them.
let fronts: [Target] = [
    room("Fronts", "Reporting", ["JSON", "Messages", "Observability"]),
    room(
        "Fronts", "CommandLineInterface",
        ["Linux", "ImageModel", "Messages", "Observability", "Reporting"]),
    room(
        "Fronts", "StackAccess",
        [
            "Linux", "ImageModel", "Messages", "ConfigurationFile", "SharedArena", "Observability",
            "Supervision", "Imagebus", "CommandLineInterface",
        ]),
    room("Fronts", "WebGrammar", ["Nettle", "ImageModel"]),
    room(
        "Fronts", "WebFront",
        [
            "WebGrammar", "Imagebus", "ImageModel", "Messages", "MicroHTTPD", "EventLoop", "Linux",
            "Observability", "Reporting", "JSON", "Nettle",
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

let worker: [Target.Dependency] = [
    "WorkerRuntime", "Messages", "ImageModel", "StageContract", "SharedArena", "Linux", "Bootstrap",
    "Observability",
]
let programs: [Target] = [
    program(
        "imagebus-cli",
        [
            "Imagebus", "Supervision", "SharedArena", "Messages", "ImageModel", "Linux", "JSON",
            "Observability", "Configuration", "ConfigurationFile", "Reporting",
            "CommandLineInterface", "StackAccess",
        ]),
    program(
        "imagebus-bench",
        [
            "Imagebus", "StackAccess", "CommandLineInterface", "Reporting", "MicroHTTPD",
            "Messages", "ImageModel", "Linux",
        ]),
    program(
        "imagebus-gateway",
        [
            "WebFront", "WebGrammar", "Imagebus", "ImageModel", "MicroHTTPD", "Bootstrap",
            "SharedArena", "Messages", "Linux", "Observability", "Sandbox",
        ]),
    program("imagebus-coordinator", ["CoordinatorRuntime", "Linux"]),
    program("imagebus-download", worker + ["Downloading"]),
    program("imagebus-cache", worker + ["Caching", "EventLoop"]),
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
        name: "StageKit", dependencies: ["StageContract", "Messages", "ImageModel"],
        path: "Tests/StageKit"),
    .target(
        name: "StackKit",
        dependencies: ["Imagebus", "Messages", "ImageModel", "Linux", "Vips", "TestKit"],
        path: "Tests/StackKit"),
    tests("LinuxTests", ["Linux", "TestKit"]),
    tests("ZeroMQTests", ["ZeroMQ", "Linux", "TestKit"]),
    tests("SQLiteTests", ["SQLite", "TestKit"]),
    tests("XXHashTests", ["XXHash"]),
    tests("NettleTests", ["Nettle"]),
    tests("SodiumTests", ["Sodium"]),
    tests("CurlTests", ["Curl", "TestKit"]),
    tests("MicroHTTPDTests", ["MicroHTTPD", "Linux", "TestKit"]),
    tests("PNGFiltersTests", ["PNGFilters"]),
    tests("VipsTests", ["Vips", "TestKit"]),
    tests("JPEGTests", ["JPEG", "Vips", "TestKit"]),
    tests("ZimgTests", ["Zimg"]),
    tests("DeflateTests", ["Deflate", "Vips"]),
    tests("ZlibTests", ["Zlib", "TestKit"]),
    tests("WebPTests", ["WebP", "Vips"]),
    tests("AVIFTests", ["AVIF", "TestKit"]),
    tests("SeccompTests", ["Seccomp"]),
    tests("YAMLTests", ["YAML", "TestKit"]),
    tests("JSONTests", ["JSON"]),
    tests("AnimationTests", ["Animation", "ImageModel"]),
    tests("ImageModelTests", ["ImageModel", "TestKit"]),
    tests("ConfigurationTests", ["Configuration", "ImageModel"]),
    tests(
        "ConfigurationFileTests",
        [
            "ConfigurationFile", "Configuration", "YAML", "Messages", "ImageModel", "Linux",
            "TestKit",
        ]),
    tests("ControlSegmentTests", ["ControlSegment", "Linux", "Messages", "TestKit"]),
    tests(
        "SchedulingTests",
        ["Admission", "Derivation", "Dispatching", "Tables", "Messages", "ImageModel", "TestKit"]),
    tests("WireTests", ["Wire", "CMessages", "Messages", "ImageModel", "TestKit"]),
    tests("EventLoopTests", ["EventLoop", "ZeroMQ", "Linux", "Messages", "TestKit"]),
    tests("ObservabilityTests", ["Observability", "Linux"]),
    tests(
        "SharedArenaTests",
        ["SharedArena", "StageContract", "Messages", "ImageModel", "Linux", "TestKit"]),
    tests(
        "WorkerRuntimeTests",
        ["WorkerRuntime", "Bootstrap", "Messages", "ImageModel", "Linux", "TestKit"]),
    tests(
        "ImagebusWorkerTests",
        [
            "ImagebusWorker", "WorkerRuntime", "EventLoop", "Bootstrap", "SharedArena",
            "StageContract",
            "Observability", "Messages", "ImageModel", "Linux", "StageKit", "TestKit", "qoi-coder",
            "dictionary-cache",
        ]),
    tests(
        "CoordinatorRuntimeTests",
        [
            "CoordinatorRuntime", "Admission", "Wire", "Messages", "ImageModel", "StageContract",
            "ZeroMQ", "Linux", "Observability", "ConfigurationFile", "TestKit",
        ]),
    tests("SupervisionTests", ["Supervision", "SharedArena", "Messages", "Linux", "TestKit"]),
    tests(
        "WebFrontTests",
        [
            "WebFront", "WebGrammar", "Imagebus", "SharedArena", "Observability", "Linux",
            "Messages",
            "ImageModel", "JSON", "MicroHTTPD", "TestKit",
        ]),
    tests(
        "WebGrammarTests", ["WebGrammar", "Nettle", "ImageModel", "TestKit"],
        documents: ["Thumbor/signed1.txt", "Thumbor/signed2.txt"]),
    tests("ReportingTests", ["Reporting", "Messages", "TestKit"]),
    tests(
        "CommandLineTests",
        [
            "imagebus-cli", "CommandLineInterface", "StackAccess", "Reporting", "Supervision",
            "SharedArena", "Imagebus", "Observability", "Messages", "ImageModel", "Linux",
            "TestKit",
        ]),
    tests(
        "BenchTests",
        [
            "imagebus-bench", "CommandLineInterface", "StackAccess", "Reporting", "Messages",
            "ImageModel", "Linux", "TestKit",
        ]),
    tests(
        "DownloadingTests",
        [
            "Downloading", "Curl", "StageContract", "Messages", "ImageModel", "StageKit", "Linux",
            "TestKit",
        ]),
    tests(
        "CachingTests",
        [
            "Caching", "SQLite", "XXHash", "StageContract", "Messages", "ImageModel", "Linux",
            "TestKit",
        ]),
    tests(
        "DecodingTests",
        [
            "Decoding", "Animation", "PNG", "Vips", "Linux", "StageContract", "Messages",
            "ImageModel", "StageKit", "TestKit",
        ]),
    tests(
        "TransformingTests",
        [
            "Transforming", "Vips", "Zimg", "StageContract", "Messages", "ImageModel", "StageKit",
            "Linux", "TestKit",
        ]),
    tests(
        "LaneTests",
        [
            "Decoding", "Transforming", "Vips", "JPEG", "StageContract", "Messages", "ImageModel",
            "StageKit", "Linux", "TestKit",
        ]),
    tests(
        "SandboxTests",
        ["sandbox-probe", "Sandbox", "SharedArena", "Messages", "Linux", "TestKit"]),
    .executableTarget(
        name: "eviction", dependencies: ["Caching", "TestKit", "Linux"], path: "Tests/Eviction"),
    .executableTarget(
        name: "disk-bench",
        dependencies: [
            "Imagebus", "Caching", "StageContract", "Messages", "ImageModel", "TestKit", "Linux",
        ],
        path: "Tests/DiskBench"),
    tests(
        "ImagebusTests",
        ["Imagebus", "Wire", "Messages", "ImageModel", "Linux", "StackKit", "TestKit"]),
    tests("ImagebusTransformsTests", ["ImagebusTransforms", "TestKit"]),
    tests(
        "ImagebusFoundationTests",
        ["ImagebusFoundation", "Imagebus", "Messages", "ImageModel", "TestKit"]),
    tests("TidyTests", ["TestKit", "Linux"]),
    .target(
        name: "FuzzTargets",
        dependencies: [
            "Wire", "Derivation", "Dispatching", "Admission", "Messages", "Animation", "ImageModel",
            "Decoding", "StageContract", "WebFront", "WebGrammar", "Nettle",
        ],
        path: "Tests/Fuzz/Targets"),
    .testTarget(
        name: "FuzzReplayTests", dependencies: ["FuzzTargets", "TestKit"],
        path: "Tests/Fuzz/Replay"),
    tests(
        "IntegrationTests",
        [
            "Imagebus", "ImagebusFoundation", "Messages", "ImageModel", "Linux", "Vips", "TestKit",
            "StackKit", "ZeroMQ", "Wire", "EventLoop", "BusConnection", "SharedArena", "SQLite",
            "StageKit",
        ]),
    tests(
        "ConformanceTests",
        [
            "CommandLineInterface", "Imagebus", "Messages", "ImageModel", "Linux", "TestKit",
            "StackKit", "imagebus-cli",
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
        dependencies: [
            "Sandbox", "SandboxAttempts", "SharedArena", "Messages", "Linux", "Bootstrap",
            "Observability",
        ],
        path: "Tests/SandboxProbe/Program"),
    .executableTarget(
        name: "stack-origin", dependencies: ["TestKit", "Linux"], path: "Tests/StackTools/Origin"),
    .executableTarget(
        name: "extension-probe", dependencies: ["ImagebusWorker", "Linux"],
        path: "Tests/ExtensionProbe"),
    .executableTarget(
        name: "stack-load", dependencies: ["Imagebus", "ImageModel", "Messages", "Linux"],
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
