/// Who may use whom: Programs → Fronts → Runtime, Stages, Client → Core, Bindings → C; Kit →
/// Runtime, Core.
enum Arrows {
    /// What each binding wraps. A library has one binding, and no other room sees its C module.
    static let modulesOfBinding: [String: Set<String>] = [
        "Linux": ["CLinux"],
        "ZeroMQ": ["CZMQ"],
        "SQLite": ["CSQLite"],
        "Curl": ["CCurl"],
        "XXHash": ["CXXHash"],
        "Sodium": ["CSodium"],
        "MicroHTTPD": ["CMicroHTTPD"],
        "PNG": ["CPNG"],
        "PNGFilters": ["CPNGFilters"],
        "Vips": ["CVips", "CVipsShims"],
        "RSVG": ["CRSVG", "CRSVGShims"],
        "Pixbuf": ["CPixbuf", "CPixbufShims"],
        "JPEG": ["CJPEG"],
        "Zimg": ["CZimg"],
        "Deflate": ["CDeflate"],
        "Zlib": ["CZlib"],
        "WebP": ["CWebP"],
        "AVIF": ["CAVIF"],
        "OpenSSL": ["COpenSSL"],
        "Nettle": ["CNettle"],
        "Seccomp": ["CSeccomp"],
        "YAML": ["CYAML"],
        "JSON": ["CJansson"],
    ]
    /// The rooms of Runtime that the client library stands on.
    static let runtimeOfClient: Set<String> = [
        "Wire", "EventLoop", "BusConnection", "SharedArena",
    ]

    /// The rooms of Runtime that the library for programs of others stands on: a worker's, and
    /// nothing that only the coordinator or a supervisor is.
    static let runtimeOfKit: Set<String> = [
        "WorkerRuntime", "EventLoop", "Bootstrap", "SharedArena", "Observability", "Wire",
    ]

    /// The library that makes pixels in the process of who calls it, by the stage that makes them
    /// in the stack, so that both make the same.
    static let roomOfPixels = "ImagebusTransforms"

    /// What measures the stack is a client as all are: it talks to it by the library alone.
    static let measuringProgram = "imagebus-bench"

    /// What Reporting stands on, so that any front can take it, with or without a command line.
    static let roomsOfReporting: Set<String> = [
        "ImageModel", "Messages", "Observability", "JSON",
    ]

    /// The library that adds Foundation's types to the client's calls, so that the client itself
    /// is without them.
    static let roomOfFoundation = "ImagebusFoundation"

    /// Modules that come with the toolchain, by the rooms that may import them.
    static func isSystemModule(_ module: String, allowedIn room: Room) -> Bool {
        switch module {
        case "Swift", "Synchronization": true
        case "Glibc": room.layer != .core
        case "FoundationEssentials": room.name == roomOfFoundation
        default: false
        }
    }

    static func isAllowed(from: Room, to: Room) -> Bool {
        switch (from.layer, to.layer) {
        case (.c, .c): true
        case (.bindings, .c): modulesOfBinding[from.name]?.contains(to.name) == true
        case (.core, .core): true
        case (.runtime, .c): from.name == "Wire" && to.name == "CMessages"
        case (.runtime, .runtime), (.runtime, .core), (.runtime, .bindings): true
        case (.stages, .core): true
        case (.stages, .bindings): to.name != "ZeroMQ"
        case (.client, .runtime): runtimeOfClient.contains(to.name)
        case (.client, .stages): from.name == roomOfPixels && to.name == "Transforming"
        case (.client, .client), (.client, .core), (.client, .bindings): true
        case (.kit, .runtime): runtimeOfKit.contains(to.name)
        case (.kit, .core): true
        case (.kit, .bindings): ["Linux", "Sodium"].contains(to.name)
        case (.fronts, _) where from.name == "Reporting": roomsOfReporting.contains(to.name)
        case (.fronts, let layer): ![.c, .stages, .kit, .programs].contains(layer)
        case (.programs, let layer) where from.name == measuringProgram:
            [.fronts, .client, .core, .bindings].contains(layer) && to.name != "ZeroMQ"
        case (.programs, let layer): ![.c, .kit, .programs].contains(layer)
        default: false
        }
    }
}
