import Imagebus
import Model
import Synchronization

/// The installed programs, driven by a client; `imagebus serve` may still be starting.
///
/// Reads use the blocking call and the disk only, and do not promote entries into memory.
final class ClientSide: Side {
    private let images: Images
    private let client: ImagebusClient
    private let trimmer: Trimmer
    private var response: ImageResponse?

    /// Longer than a start or a trim takes.
    private static let timeoutMilliseconds = 600_000

    init(_ runtimeDirectory: String, _ images: Images) throws {
        self.images = images
        let timeout = Self.timeoutMilliseconds
        client = try ImagebusClient(
            ClientConfiguration(
                runtimeDirectory: runtimeDirectory, connectTimeoutMilliseconds: timeout))
        trimmer = Trimmer(
            try OperatorClient(
                ClientConfiguration(
                    runtimeDirectory: runtimeDirectory, isOperator: true,
                    connectTimeoutMilliseconds: timeout)))
    }

    func hit(_ number: Int) throws -> Bool {
        let response = try client.loadAndWait(Self.request(number))
        self.response = response
        return response.status == .ok && response.cacheType == .disk
    }

    private static func request(_ number: Int) -> ImageRequest {
        var request = ImageRequest(url: Images.key(number))
        request.options = [.fromCacheOnly]
        request.queryCacheTypes = .disk
        request.originalQueryCacheTypes = .none
        request.storeCacheTypes = .none
        request.originalStoreCacheTypes = .none
        request.timeoutMilliseconds = timeoutMilliseconds
        return request
    }

    func isRight(_ number: Int) -> Bool {
        defer { response = nil }
        return response?.bytes?.withUnsafeBytes { images.areRight($0, number) } ?? false
    }

    func beginTrim() throws { trimmer.begin() }

    func isTrimmed() -> Bool { trimmer.isDone.load(ordering: .acquiring) }

    func stop() { client.close(waitingMilliseconds: 1_000) }
}

/// Requests a trim as an operator does.
private final class Trimmer: Sendable {
    let isDone = Atomic<Bool>(false)
    private let operators: OperatorClient

    init(_ operators: OperatorClient) { self.operators = operators }

    func begin() {
        Task.detached { [self] in
            do { _ = try await operators.trim(.disk) } catch { Measurement.log("trim: \(error)") }
            isDone.store(true, ordering: .releasing)
        }
    }
}
