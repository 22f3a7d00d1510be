/// The permitted dependencies: Programs → Fronts → Runtime, Stages, Client → Core, Bindings → C;
/// Kit → Runtime, Core.
enum Arrows {
    /// The C modules of each binding. A library has one binding, and no other module imports its C
    /// module.
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
    /// The modules of Runtime that the client library depends on.
    static let runtimeOfClient: Set<String> = ["Wire", "ProcessRuntime"]

    /// The modules of Runtime that the SDK for plug-ins depends on: those of a worker, and none
    /// that only the coordinator or a supervisor needs.
    static let runtimeOfKit: Set<String> = ["Wire", "ProcessRuntime"]

    /// The library that transforms images in the caller's process, using the same stage as the
    /// stack so that the results are identical.
    static let roomOfPixels = "ImagebusTransforms"

    /// The benchmark is an ordinary client: it uses only the client library.
    static let measuringProgram = "imagebus-bench"

    /// The modules that Reporting depends on, so that any front can use it, with or without a
    /// command line.
    static let roomsOfReporting: Set<String> = ["Model", "ProcessRuntime", "JSON"]

    /// The library that extends the client's calls with Foundation's types, so that the client
    /// itself doesn't link Foundation.
    static let roomOfFoundation = "ImagebusFoundation"

    /// Whether `room` may import a module of the toolchain.
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
        case (.core, .core): to.name == "Model"
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
