import Glibc
import Imagebus

/// What the service was told, by its arguments and its environment.
struct ThumbnailerSettings {
    /// Where the images come from, in their order.
    let urls: [String]
    /// `THUMBNAILER_DIRECTORY`: where the thumbnails go.
    let directory: String
    /// `THUMBNAILER_SIZE`: pixels on a side at most.
    let side: Int
    /// `IMAGEBUS_RUNTIME_DIR`: the stack.
    let runtimeDirectory: String

    /// URLs are the arguments, else `THUMBNAILER_URLS`, else the lines of standard input.
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

    /// The stack's front listener. Fails where the runtime directory is no absolute path.
    func client() throws(ImageError) -> ClientConfiguration {
        do {
            return try ClientConfiguration(
                runtimeDirectory: runtimeDirectory, connectTimeoutMilliseconds: 15_000)
        } catch {
            throw ImageError(.invalidRequest, "\(error)")
        }
    }

    /// A WebP that fits into the square.
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
