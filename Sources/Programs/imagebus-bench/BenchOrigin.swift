import CommandLineInterface
import Glibc
import Linux
import MicroHTTPD
import Model
import Synchronization

/// The origin of a measurement: serves images from memory, and one that never ends, until the
/// process ends.
final class BenchOrigin: Sendable {
    private let images: SharedImages
    private let port: UInt16

    /// The images by name, and the numbers of their requests.
    private final class SharedImages: Sendable {
        let bytes = Mutex<[String: [UInt8]]>([:])
        let held = Mutex<[String: Int]>([:])
        let requests = Mutex<[String: Int]>([:])
    }

    init() throws(ImageError) {
        let images = SharedImages()
        self.images = images
        do throws(Errno) {
            let listener = try StreamListener(address: "127.0.0.1", port: 0)
            port = listener.port ?? 0
            let socket = listener.relinquish()
            _ = try Thread(name: "origin") { Self.serve(socket, images) }
        } catch {
            throw ImageError(.unavailable, "cannot start an origin on 127.0.0.1")
        }
    }

    /// Answers requests on the calling thread.
    private static func serve(_ socket: Int32, _ images: SharedImages) {
        var limits = HTTPLimits()
        limits.connectionsPerPeer = 0
        do throws(HTTPListenError) {
            let handler = Handler(images)
            let server = try EventedHTTPServer(listener: socket, limits: limits, handler: handler)
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

    /// Returns the URL of an image; different numbers count as different images for the stack.
    func url(_ name: String, _ number: Int) -> String { "\(url(name))?\(number)" }

    /// Returns the URL of an image.
    func url(_ name: String) -> String { "http://\(authority)/\(name)" }

    /// Returns how often an image was requested, with any number.
    func requestCount(_ name: String) -> Int { images.requests.withLock { $0[name] ?? 0 } }

    func add(_ name: String, _ bytes: [UInt8]) {
        images.bytes.withLock { $0[name] = bytes }
    }

    /// Returns the image served under a name.
    func bytes(_ name: String) -> [UInt8]? { images.bytes.withLock { $0[name] } }

    /// Adds an image of which only `count` bytes are sent; then the connection stalls until the
    /// peer disconnects.
    func add(_ name: String, _ bytes: [UInt8], holdingAfter count: Int) {
        images.held.withLock { $0[name] = count }
        add(name, bytes)
    }

    /// The name of an image whose transfer stalls after the first bytes until the peer disconnects.
    static let stalled = "stalled.jpg"
    private static let stalledBytes = [UInt8](repeating: 0xFF, count: 1 << 20)

    /// Answers at once.
    private final class Handler: EventedHandler {
        private let images: SharedImages

        init(_ images: SharedImages) { self.images = images }

        func handle(_ exchange: EventedExchange) {
            let name = String(exchange.target.dropFirst().prefix { $0 != "?" })
            images.requests.withLock { $0[name, default: 0] += 1 }
            exchange.answer(reply(name))
        }

        func ended(_: EventedExchange, _: HTTPEnd) {}

        private func reply(_ name: String) -> HTTPReply {
            if name == BenchOrigin.stalled {
                var reply = HTTPReply(
                    headers: [("Content-Type", "image/jpeg")],
                    body: .bytes(BenchOrigin.stalledBytes))
                reply.stallsAfter = 1 << 16
                return reply
            }
            guard let bytes = images.bytes.withLock({ $0[name] }) else {
                return HTTPReply(status: 404)
            }
            var reply = HTTPReply(
                headers: [("Content-Type", "application/octet-stream")], body: .bytes(bytes))
            reply.stallsAfter = images.held.withLock { $0[name] }
            return reply
        }
    }
}

/// An image that takes a codec about as much time as a photograph: smooth, with added texture.
enum BenchImage {
    /// Returns the image as an uncompressed PNG.
    static func raw(width: Int, height: Int) -> [UInt8] {
        RawPNG(width: width, height: height) { y, row in
            var noise = UInt32(truncatingIfNeeded: y &* 2_654_435_761) | 1
            for x in 0..<width {
                noise ^= noise << 13
                noise ^= noise >> 17
                noise ^= noise << 5
                let grain = Int(noise >> 28)
                row[x * 3] = UInt8(x * 239 / width + grain)
                row[x * 3 + 1] = UInt8(y * 239 / height + grain)
                row[x * 3 + 2] = UInt8((x + y) * 239 / (width + height) + (x / 8 ^ y / 8) % 16)
            }
        }.bytes
    }
}

/// An uncompressed PNG (RFC 2083, RFC 1951 §3.2.4): a raw image in a format that the decoder
/// accepts.
struct RawPNG {
    private(set) var bytes: [UInt8]

    /// Creates an 8-bit RGB image; `row` fills one row with three bytes per pixel.
    init(width: Int, height: Int, row: (Int, inout [UInt8]) -> Void) {
        bytes = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        bytes.reserveCapacity(width * height * 3 + height * 8 + 1_024)
        append(chunk: "IHDR") { $0 += Self.word(width) + Self.word(height) + [8, 2, 0, 0, 0] }
        var line = [UInt8](repeating: 0, count: 1 + width * 3)
        var pixels = [UInt8](repeating: 0, count: width * 3)
        var adler = Adler32()
        append(chunk: "IDAT") { bytes in
            bytes += [0x78, 0x01]
            for number in 0..<height {
                row(number, &pixels)
                // Filter type 0, then the unfiltered row.
                line.replaceSubrange(1..., with: pixels)
                adler.add(line)
                Self.appendStored(line, isLast: number == height - 1, to: &bytes)
            }
            bytes += Self.word(Int(adler.value))
        }
        append(chunk: "IEND") { _ in }
    }

    /// Appends length, name, data and checksum.
    private mutating func append(chunk name: String, _ data: (inout [UInt8]) -> Void) {
        let start = bytes.count
        bytes += [0, 0, 0, 0] + Array(name.utf8)
        data(&bytes)
        let length = bytes.count - start - 8
        bytes.replaceSubrange(start..<(start + 4), with: Self.word(length))
        bytes += Self.word(Int(CRC32.of(bytes[(start + 4)...])))
    }

    /// Appends stored (uncompressed) blocks of at most 65,535 bytes.
    private static func appendStored(_ line: [UInt8], isLast: Bool, to bytes: inout [UInt8]) {
        var start = 0
        while start < line.count {
            let end = min(start + 0xFFFF, line.count)
            let count = UInt16(end - start)
            bytes += [isLast && end == line.count ? 1 : 0]
            for word in [count, ~count] {
                bytes += [UInt8(truncatingIfNeeded: word), UInt8(truncatingIfNeeded: word >> 8)]
            }
            bytes += line[start..<end]
            start = end
        }
    }

    private static func word(_ number: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}

/// The checksum of zlib streams (RFC 1950 §8.2).
struct Adler32 {
    private var low: UInt32 = 1
    private var high: UInt32 = 0

    var value: UInt32 { high << 16 | low }

    mutating func add(_ bytes: [UInt8]) {
        var start = 0
        while start < bytes.count {
            // The largest number of bytes for which the sums don't overflow 32 bits.
            let end = min(start + 5_552, bytes.count)
            for index in start..<end {
                low &+= UInt32(bytes[index])
                high &+= low
            }
            low %= 65_521
            high %= 65_521
            start = end
        }
    }
}

/// The checksum of PNG chunks (RFC 2083 §15).
enum CRC32 {
    private static let table: [UInt32] = (0..<256).map { number in
        (0..<8).reduce(UInt32(number)) { word, _ in
            word & 1 == 1 ? 0xEDB8_8320 ^ (word >> 1) : word >> 1
        }
    }

    static func of(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        let table = table
        return ~bytes.withUnsafeBufferPointer { bytes in
            bytes.reduce(UInt32.max) { sum, byte in
                table[Int(UInt8(truncatingIfNeeded: sum) ^ byte)] ^ (sum >> 8)
            }
        }
    }
}
