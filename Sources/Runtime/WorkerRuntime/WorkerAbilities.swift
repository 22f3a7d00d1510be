import Bootstrap
import Linux

/// What a worker's program can do on this machine, as it says itself when it is asked with
/// `--abilities`: a line for each format and for each library of images that it loaded.
public struct WorkerAbilities: Sendable {
    /// Formats that it reads.
    public var reads: [String] = []
    /// Formats that it writes.
    public var writes: [String] = []
    /// What this machine lacks, in sentences.
    public var lacks: [String] = []

    /// The only argument then.
    public static let argument = "--abilities"

    /// Nothing but its libraries.
    public init() {}

    /// `reads jpeg`, `writes png`, `lacks SENTENCE`, `library NAME VERSION`.
    func text(libraries: [(name: String, version: String)]) -> String {
        let lines =
            reads.map { "reads \($0)" } + writes.map { "writes \($0)" }
            + lacks.map { "lacks \($0)" } + libraries.map { "library \($0.name) \($0.version)" }
        return lines.map { "\($0)\n" }.joined()
    }

    /// Prints it; the exit status.
    func tell() -> Int32 {
        let bytes = Array(text(libraries: LoadedLibraries.now()).utf8)
        do throws(Errno) {
            try bytes.span.bytes.withUnsafeBytes { (bytes) throws(Errno) in
                try FileDescriptor.writeAll(bytes, to: 1)
            }
            return ProgramExit.success
        } catch {
            return ProgramExit.internalError
        }
    }
}

/// Libraries that the dynamic linker loaded into this process.
enum LoadedLibraries {
    /// Those that have to do with images, the network, messages and databases.
    private static let interesting: Set<String> = [
        "aom", "avif", "curl", "dav1d", "de265", "deflate", "heif", "jpeg", "jxl", "lcms2",
        "microhttpd", "png16", "poppler", "rsvg-2", "sodium", "sqlite3", "ssl", "tiff", "vips",
        "webp", "x265", "zimg", "zmq",
    ]

    static func now() -> [(name: String, version: String)] {
        guard let file = try? FileDescriptor.open("/proc/self/maps"),
            let bytes = try? file.readToEnd(bytesMax: 16 << 20)
        else { return [] }
        return among(String(decoding: bytes, as: UTF8.self))
    }

    /// Of the text of `/proc/PID/maps`; each once, by name. A version is what stands behind `.so.`
    /// in the name of the file.
    static func among(_ maps: String) -> [(name: String, version: String)] {
        var found: [String: String] = [:]
        for line in maps.split(separator: "\n") {
            guard let file = line.split(separator: "/").last, file.hasPrefix("lib"),
                let end = file.firstRange(of: ".so.")
            else { continue }
            let name = String(file[file.index(file.startIndex, offsetBy: 3)..<end.lowerBound])
            guard interesting.contains(name) else { continue }
            found[name] = String(file[end.upperBound...])
        }
        return found.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
