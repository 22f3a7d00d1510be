import ImageModel
import Linux
import Synchronization

/// The result of asynchronous work, for the main thread, which waits with `poll`.
final class Completion<Value: Sendable>: Sendable {
    private let event: EventDescriptor
    private let result = Mutex<Result<Value, ImageError>?>(nil)

    init() throws(Errno) { event = try EventDescriptor() }

    /// Readable once there is a result.
    var number: Int32 { event.descriptor.number }

    /// nil until the work has ended.
    var value: Result<Value, ImageError>? { result.withLock { $0 } }

    /// Starts the work; its result is the value.
    func start(_ work: @escaping @Sendable () async throws(ImageError) -> Value) {
        Task.detached {
            let ended: Result<Value, ImageError>
            do throws(ImageError) {
                ended = .success(try await work())
            } catch {
                ended = .failure(error)
            }
            self.end(with: ended)
        }
    }

    /// The work has ended.
    func end(with ended: Result<Value, ImageError>) {
        result.withLock { $0 = ended }
        event.signal()
    }
}
