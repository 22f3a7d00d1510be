package import ImageModel
package import Linux
import Synchronization

/// The result of asynchronous work, for the main thread, which waits with `poll`.
package final class Completion<Value: Sendable>: Sendable {
    private let event: EventDescriptor
    private let result = Mutex<Result<Value, ImageError>?>(nil)

    package init() throws(Errno) { event = try EventDescriptor() }

    /// Readable once there is a result.
    package var number: Int32 { event.descriptor.number }

    /// nil until the work has ended.
    package var value: Result<Value, ImageError>? { result.withLock { $0 } }

    /// Starts the work; its result is the value.
    package func start(_ work: @escaping @Sendable () async throws(ImageError) -> Value) {
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
    package func end(with ended: Result<Value, ImageError>) {
        result.withLock { $0 = ended }
        event.signal()
    }
}
