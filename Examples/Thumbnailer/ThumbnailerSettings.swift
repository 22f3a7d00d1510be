import Glibc
import Imagebus

/// Settings from the arguments and the environment.
struct ThumbnailerSettings {
    /// The URLs of the images, in input order.
    let urls: [String]
    /// `THUMBNAILER_DIRECTORY`: the output directory.
    let directory: String
    /// `THUMBNAILER_SIZE`: the maximum width and height in pixels.
    let side: Int
    /// `IMAGEBUS_RUNTIME_DIR`: the runtime directory of the stack.
    let runtimeDirectory: String

    /// URLs come from the arguments, else from `THUMBNAILER_URLS`, else from standard input, one
    /// per line.
    init(arguments: [String]) {
        let named = Self.environment("THUMBNAILER_URLS").map { $0.split { " \n,".contains($0) } }
        if !arguments.isEmpty {
            urls = arguments
        } else if let named, !named.isEmpty {
            urls = named.map(String.init)
        } else {
            urls = Self.linesOfInput()
        }
        directory = Self.environment("THUMBNAILER_DIRECTORY") ?? "."
        side = Self.environment("THUMBNAILER_SIZE").flatMap { Int($0) } ?? 256
        runtimeDirectory = Self.environment("IMAGEBUS_RUNTIME_DIR") ?? "/run/imagebus"
    }

    /// A client of the stack's `front` listener. Throws if the runtime directory isn't an absolute
    /// path.
    func client() throws(ImageError) -> ClientConfiguration {
        do {
            return try ClientConfiguration(
                runtimeDirectory: runtimeDirectory, connectTimeoutMilliseconds: 15_000)
        } catch {
            throw ImageError(.invalidRequest, "\(error)")
        }
    }

    /// A request for a WebP image that fits into the square.
    func request(for url: String) -> ImageRequest {
        var request = ImageRequest(url: url)
        request.steps = [.resize(PixelSize(width: side, height: side), .fit)]
        request.output.format = .webp
        return request
    }

    private static func environment(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    private static func linesOfInput() -> [String] {
        var lines: [String] = []
        while let line = readLine() {
            if !line.isEmpty { lines.append(line) }
        }
        return lines
    }
}
