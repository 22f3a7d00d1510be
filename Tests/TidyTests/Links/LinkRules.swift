/// The libraries that each program may link.
///
/// A bug in a codec, in SQLite or in libcurl stays out of every process that doesn't need it.
enum LinkRules {
    /// Every program uses the bus.
    static let bus: Set<String> = ["zmq", "protobuf-c"]
    /// The client library decodes pixels of frames.
    static let client: Set<String> = bus.union(["z"])
    static let images: Set<String> = ["vips", "gobject-2.0", "gmodule-2.0", "glib-2.0"]
    /// Libraries that decode files to planes, and those that encode planes to files.
    static let planarSources: Set<String> = ["jpeg", "avif", "zimg"]
    /// Libraries that decode partial files. One binding covers all of WebP.
    static let beginnings: Set<String> = ["png16", "webp", "webpmux"]
    /// The library for the checksums of a PNG frame that becomes a file of its own.
    static let frames: Set<String> = ["deflate"]
    static let planarTargets: Set<String> = [
        "zimg", "jpeg", "webp", "webpmux", "avif", "deflate",
    ]

    /// Libraries that render drawings and decode bitmaps; libvips loads all of them anyway.
    static let drawings: Set<String> = [
        "rsvg-2", "cairo", "fontconfig", "gdk_pixbuf-2.0", "gio-2.0",
    ]

    /// The library that sandboxes processes which open untrusted files.
    static let sandbox: Set<String> = ["seccomp"]

    static let allowed: [String: Set<String>] = [
        "imagebus": client.union(["jansson", "yaml-0"]),
        "imagebus-bench": client.union(["jansson", "microhttpd", "yaml-0"]),
        "imagebus-coordinator": bus.union(["sodium", "yaml-0"]),
        "imagebus-gateway": client.union(["microhttpd", "nettle", "jansson"])
            .union(sandbox),
        "imagebus-download": bus.union(["curl", "z", "crypto"]),
        "imagebus-cache": bus.union(["sqlite3", "xxhash", "nettle"]),
        "imagebus-decode": bus.union(images).union(planarSources).union(drawings)
            .union(frames).union(beginnings).union(sandbox),
        "imagebus-transform": bus.union(images).union(planarTargets).union(sandbox),
    ]

    private static let system: Set<String> = [
        "c", "m", "gcc_s", "stdc++", "pthread", "dl", "rt",
    ]

    /// Reports libraries that `program` must not need, given the output of `readelf --dynamic`.
    static func findings(program: String, readelf text: String) -> [Finding] {
        guard let allowed = allowed[program] else {
            return [finding(program, "an unknown program", "give it a row in LinkRules")]
        }
        let names = NeededLibraries.names(inReadelf: text)
        guard names.contains(where: { NeededLibraries.stem(of: $0) == "c" }) else {
            return [finding(program, "no libc among what it needs", "is this output of readelf?")]
        }
        return names.filter { !isAllowed($0, allowed) }.map {
            finding(program, "links \($0)", "use it in the program whose list has it")
        }
    }

    private static func isAllowed(_ library: String, _ allowed: Set<String>) -> Bool {
        if library.hasPrefix("ld-linux") { return true }
        guard let stem = NeededLibraries.stem(of: library) else { return false }
        return system.contains(stem) || allowed.contains(stem) || isSwiftRuntime(stem)
    }

    /// Debug builds link Swift's own libraries dynamically; release builds include them.
    private static func isSwiftRuntime(_ stem: String) -> Bool { stem.hasPrefix("swift") }

    private static func finding(_ program: String, _ rule: String, _ remedy: String) -> Finding {
        Finding(file: program, line: 0, rule: rule, remedy: remedy)
    }
}
