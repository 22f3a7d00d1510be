import CommandLineInterface
import Glibc
import Linux
import MicroHTTPD
import Model
import Synchronization

/// The origin of a measurement: serves images from memory until the process ends.
final class BenchOrigin: Sendable {
    private let images: Images
    private let port: UInt16

    private struct Image: Sendable {
        var bytes: [UInt8] = []
        /// The number of bytes after which its transfers stall.
        var stallsAfter: Int?
        var requests = 0
    }

    /// The images by name.
    private final class Images: EventedHandler, Sendable {
        let all = Mutex<[String: Image]>([:])

        func handle(_ exchange: EventedExchange) {
            let name = String(exchange.target.dropFirst().prefix { $0 != "?" })
            let image = all.withLock { images in
                images[name]?.requests += 1
                return images[name]
            }
            guard let image else { return exchange.answer(HTTPReply(status: 404)) }
            var reply = HTTPReply(
                headers: [("Content-Type", "application/octet-stream")], body: .bytes(image.bytes))
            reply.stallsAfter = image.stallsAfter
            exchange.answer(reply)
        }

        func ended(_: EventedExchange, _: HTTPEnd) {}
    }

    init() throws(ImageError) {
        let images = Images()
        self.images = images
        do throws(Errno) {
            let listener = try StreamListener(address: "127.0.0.1", port: 0)
            port = listener.port ?? 0
            let socket = listener.relinquish()
            _ = try Thread(name: "origin") { Self.serve(images, socket) }
        } catch {
            throw ImageError(.unavailable, "cannot start an origin on 127.0.0.1")
        }
    }

    /// Answers requests on the calling thread.
    private static func serve(_ images: Images, _ socket: Int32) {
        var limits = HTTPLimits()
        limits.connectionsPerPeer = 0
        do throws(HTTPListenError) {
            let server = try EventedHTTPServer(listener: socket, limits: limits, handler: images)
            while true {
                var entry = pollfd(fd: server.descriptor, events: Int16(POLLIN), revents: 0)
                poll(&entry, 1, server.millisecondsUntilDue.map { Int32(clamping: $0) } ?? -1)
                server.run()
            }
        } catch {
            Terminal.error("imagebus bench: the origin cannot be started (\(error.text))\n")
        }
    }

    /// `IP:PORT`, as `--allow-address` requires it.
    var authority: String { "127.0.0.1:\(port)" }

    /// Returns the URL of an image.
    func url(_ name: String) -> String { "http://\(authority)/\(name)" }

    /// Returns the image served under a name.
    func bytes(_ name: String) -> [UInt8] { images.all.withLock { $0[name]?.bytes ?? [] } }

    /// Returns how often an image was requested, with any query.
    func requestCount(_ name: String) -> Int { images.all.withLock { $0[name]?.requests ?? 0 } }

    /// Adds or replaces an image. If `count` is given, only so many bytes of it are sent; then the
    /// connection stalls until the peer disconnects.
    func add(_ name: String, _ bytes: [UInt8], stallingAfter count: Int? = nil) {
        images.all.withLock {
            $0[name, default: Image()].bytes = bytes
            $0[name]?.stallsAfter = count
        }
    }
}

/// An image that takes a codec about as much time as a photograph: smooth, with added texture.
enum BenchImage {
    /// The size of the two headers.
    private static let headerBytes = 54

    /// Returns the image as an uncompressed BMP with 24 bits per pixel, whose rows are padded to
    /// four bytes.
    static func bitmap(width: Int, height: Int) -> [UInt8] {
        let (rowBytes, format) = ((width * 3 + 3) & ~3, 24 << 16 | 1)
        let pixelBytes = rowBytes * height
        var bytes = Array("BM".utf8)
        bytes.reserveCapacity(headerBytes + pixelBytes)
        for word in [
            headerBytes + pixelBytes, 0, headerBytes, 40, width, height, format, 0, pixelBytes,
            0, 0, 0, 0,
        ] { bytes += (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
        for y in 0..<height {
            var noise = UInt32(truncatingIfNeeded: y &* 2_654_435_761) | 1
            for x in 0..<width {
                noise ^= noise << 13
                noise ^= noise >> 17
                noise ^= noise << 5
                let grain = Int(noise >> 28)
                bytes.append(UInt8((x + y) * 239 / (width + height) + (x / 8 ^ y / 8) % 16))
                bytes.append(UInt8(y * 239 / height + grain))
                bytes.append(UInt8(x * 239 / width + grain))
            }
            bytes += repeatElement(0, count: rowBytes - width * 3)
        }
        return bytes
    }
}
