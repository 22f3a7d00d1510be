import ImageModel
import MicroHTTPD
import Synchronization

/// The origin of a measurement: images in memory, and one that never ends.
final class BenchOrigin: Sendable {
    private let images: SharedImages
    private let server: HTTPServer

    private final class SharedImages: Sendable {
        let bytes = Mutex<[String: [UInt8]]>([:])
        let held = Mutex<[String: Int]>([:])
        let requests = Mutex<[String: Int]>([:])
    }

    init() throws(ImageError) {
        let images = SharedImages()
        self.images = images
        do throws(HTTPServerError) {
            server = try HTTPServer { Self.answer($0, images) }
        } catch {
            throw ImageError(.unavailable, "no origin can be started on 127.0.0.1")
        }
    }

    /// `IP:PORT`, as `--allow-address` wants it.
    var authority: String { "127.0.0.1:\(server.port)" }

    /// The URL of an image; a number makes it another one for the stack.
    func url(_ name: String, _ number: Int) -> String { "\(url(name))?\(number)" }

    /// The URL of an image.
    func url(_ name: String) -> String { "http://\(authority)/\(name)" }

    /// How often an image was asked for, whatever its number.
    func requestCount(_ name: String) -> Int { images.requests.withLock { $0[name] ?? 0 } }

    func add(_ name: String, _ bytes: [UInt8]) {
        images.bytes.withLock { $0[name] = bytes }
    }

    /// What it shows under a name.
    func bytes(_ name: String) -> [UInt8]? { images.bytes.withLock { $0[name] } }

    /// Adds an image of which so many bytes come, and nothing more until the peer leaves.
    func add(_ name: String, _ bytes: [UInt8], holdingAfter count: Int) {
        images.held.withLock { $0[name] = count }
        add(name, bytes)
    }

    /// The name of the image that stops after its first bytes until the peer leaves.
    static let stalled = "stalled.jpg"
    private static let stalledBytes = [UInt8](repeating: 0xFF, count: 1 << 20)

    private static func answer(_ request: HTTPRequest, _ images: SharedImages) -> HTTPResponse {
        let name = String(request.path.dropFirst())
        images.requests.withLock { $0[name, default: 0] += 1 }
        if name == stalled {
            var response = HTTPResponse(
                headers: [("Content-Type", "image/jpeg")], body: stalledBytes)
            response.hold = (1 << 16, BodyGate())
            return response
        }
        guard let bytes = images.bytes.withLock({ $0[name] }) else {
            return HTTPResponse(status: 404)
        }
        var response = HTTPResponse(
            headers: [("Content-Type", "application/octet-stream")], body: bytes)
        response.hold = images.held.withLock { $0[name] }.map { ($0, BodyGate()) }
        return response
    }
}
