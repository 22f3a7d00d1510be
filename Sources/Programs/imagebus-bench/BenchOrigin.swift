import Glibc
import Linux
import Model
import Synchronization

/// The origin of a measurement: serves images from memory until the process ends, each connection
/// on a thread of its own.
final class BenchOrigin: Sendable {
    private struct Image: Sendable {
        var bytes: [UInt8] = []
        /// The number of bytes that its transfers send before they stall.
        var sentMax = Int.max
        var requests = 0
    }

    /// The images by name.
    private let images = Mutex<[String: Image]>([:])
    private let port: UInt16

    /// The maximum size of a request in bytes.
    private static let requestBytesMax = 1 << 16

    init() throws(ImageError) {
        do throws(Errno) {
            let listener = try StreamListener(address: "127.0.0.1", port: 0)
            port = listener.port ?? 0
            let socket = listener.relinquish()
            _ = try Thread(name: "origin") { [self] in serve(socket) }
        } catch {
            throw ImageError(.unavailable, "cannot start an origin on 127.0.0.1")
        }
    }

    private func serve(_ socket: Int32) {
        var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        while true {
            poll(&entry, 1, -1)
            let peer = accept(socket, nil, nil)
            guard peer >= 0 else {
                // Out of descriptors, for example: the connection waits in the queue.
                poll(nil, 0, 10)
                continue
            }
            _ = try? Thread(name: "transfer") { [self] in
                try? answerRequests(of: FileDescriptor(owning: peer))
            }
        }
    }

    /// Answers the requests of a connection, which have no bodies, until the peer closes it.
    private func answerRequests(of peer: consuming FileDescriptor) throws(Errno) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Self.requestBytesMax, alignment: 16)
        defer { buffer.deallocate() }
        var request: [UInt8] = []
        while request.count < Self.requestBytesMax {
            let count = try peer.read(into: buffer)
            if count == 0 { return }
            request += buffer[..<count]
            guard request.suffix(4) == Array("\r\n\r\n".utf8) else { continue }
            let (bytes, isStalled) = answer(to: String(decoding: request, as: UTF8.self))
            let number = peer.number
            try bytes.span.bytes.withUnsafeBytes { (bytes) throws(Errno) in
                try FileDescriptor.writeAll(bytes, to: number)
            }
            while isStalled, try peer.read(into: buffer) > 0 {}
            request = []
        }
    }

    /// Returns the response, and whether the transfer stalls after it.
    private func answer(to request: String) -> (bytes: [UInt8], isStalled: Bool) {
        let target = request.split(separator: " ", maxSplits: 2).dropFirst().first ?? ""
        let name = String(target.dropFirst().prefix { $0 != "?" })
        let image = images.withLock { images in
            images[name]?.requests += 1
            return images[name]
        }
        guard let image else {
            return (Array("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".utf8), false)
        }
        let head = """
            HTTP/1.1 200 OK\r
            Content-Type: application/octet-stream\r
            Content-Length: \(image.bytes.count)\r
            \r

            """
        return (Array(head.utf8) + image.bytes.prefix(image.sentMax), image.sentMax < .max)
    }

    /// `IP:PORT`, as `--allow-address` requires it.
    var authority: String { "127.0.0.1:\(port)" }

    /// Returns the URL of an image.
    func url(_ name: String) -> String { "http://\(authority)/\(name)" }

    /// Returns the image served under a name.
    func bytes(_ name: String) -> [UInt8] { images.withLock { $0[name]?.bytes ?? [] } }

    /// Returns how often an image was requested, with any query.
    func requestCount(_ name: String) -> Int { images.withLock { $0[name]?.requests ?? 0 } }

    /// Adds or replaces an image. If `count` is given, only so many bytes of it are sent; then the
    /// connection stalls until the peer disconnects.
    func add(_ name: String, _ bytes: [UInt8], stallingAfter count: Int = .max) {
        images.withLock {
            $0[name, default: Image()].bytes = bytes
            $0[name]?.sentMax = count
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
