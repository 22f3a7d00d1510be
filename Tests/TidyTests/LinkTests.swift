import Glibc
import TestKit
import Testing

/// The libraries that each program may link: a bug in a codec, in SQLite or in libcurl stays out of
/// every process that doesn't need it.
@Suite struct LinkTests {
    private static let bus: Set = ["zmq", "protobuf-c"]
    private static let images: Set = [
        "vips", "gobject-2.0", "gmodule-2.0", "glib-2.0", "jpeg", "avif", "zimg", "webp",
        "webpmux", "deflate",
    ]
    /// libvips loads the first four anyway.
    private static let drawings: Set = [
        "cairo", "fontconfig", "gdk_pixbuf-2.0", "gio-2.0", "rsvg-2", "png16",
    ]

    private static let allowed: [String: Set<String>] = [
        "imagebus": bus.union(["jansson", "yaml-0"]),
        "imagebus-bench": bus.union(["jansson", "microhttpd", "yaml-0"]),
        "imagebus-coordinator": bus.union(["sodium", "yaml-0"]),
        "imagebus-gateway": bus.union(["microhttpd", "nettle", "jansson", "seccomp"]),
        "imagebus-download": bus.union(["curl", "z", "crypto"]),
        "imagebus-cache": bus.union(["sqlite3", "xxhash", "nettle"]),
        "imagebus-decode": bus.union(images).union(drawings).union(["seccomp"]),
        "imagebus-transform": bus.union(images).union(["seccomp"]),
    ]
    private static let system: Set = ["c", "m", "gcc_s", "stdc++", "pthread", "dl", "rt"]

    @Test(arguments: allowed.keys.sorted())
    func programLinksOnlyWhatItsListHas(program: String) throws {
        for folder in try Self.foldersOfPrograms() {
            let path = folder + "/" + program
            let output = try Tool.run(["readelf", "--dynamic", "--wide", path])
            let needed = Self.needed(String(decoding: output, as: UTF8.self))
            #expect(needed.contains("c"), "\(path): is this output of readelf?")
            #expect(Self.foreign(needed, to: program) == [], "\(path)")
        }
    }

    @Test(arguments: [
        ("imagebus-coordinator", "libvips.so.42"), ("imagebus-cache", "libcurl.so.4"),
        ("imagebus-transform", "libgdk_pixbuf-2.0.so.0"), ("imagebus", "libFoundation.so"),
        ("imagebus-download", "libseccomp.so.2"), ("imagebus", "strange.so"),
    ])
    func aForeignLibraryIsFound(program: String, library: String) {
        let line = " 0x0000000000000001 (NEEDED)             Shared library: [\(library)]"
        #expect(Self.foreign(Self.needed(line), to: program).count == 1)
    }

    /// Debug builds link Swift's own libraries dynamically; release builds include them.
    private static func foreign(_ needed: [String], to program: String) -> [String] {
        let allowed = system.union(allowed[program] ?? [])
        return needed.filter {
            !allowed.contains($0) && !$0.hasPrefix("swift") && !$0.hasPrefix("ld-linux")
        }
    }

    /// The names of the libraries in the output of readelf, such as `curl` of `libcurl.so.4`.
    private static func needed(_ text: String) -> [String] {
        text.matches(of: /\(NEEDED\).*\[(?:lib)?(.+?)\.so/).map { String($0.output.1) }
    }

    /// The folder of the build that contains this test, and that of the programs built by
    /// `scripts/build` if the environment names it.
    private static func foldersOfPrograms() throws -> [String] {
        let own = try #require(realpath("/proc/self/exe", nil))
        defer { free(own) }
        let path = String(cString: own)
        let folder = String(path[..<(try #require(path.lastIndex(of: "/")))])
        return [folder] + (getenv("IMAGEBUS_PROGRAMS").map { [String(cString: $0)] } ?? [])
    }
}
