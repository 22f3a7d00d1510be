package import ImageModel
package import Linux
import Supervision
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

// The wait of a command for its work, which Ctrl-C cancels.
extension Completion {
    /// How long cancelled work may take to say so.
    private static var cancelMilliseconds: Int { 2_000 }

    /// The same for a command that says why it cannot go on.
    package static func opened() throws(ImageError) -> Completion {
        do throws(Errno) {
            return try Completion()
        } catch {
            throw ImageError(.internalError, "no descriptor is left (\(error))")
        }
    }

    /// Waits for the end, at most so long. A first Ctrl-C cancels, a second does not even wait for
    /// that. Throws how the work failed, `cancelled` or `deadlineExceeded`.
    package func wait(
        _ interruption: Interruption, atMost milliseconds: Int? = nil, cancel: () -> Void
    ) throws(ImageError) -> Value {
        var deadline = milliseconds.map(Self.after)
        var isCancelled = false
        while true {
            if let value { return try value.get() }
            if let deadline, MonotonicClock.now() >= deadline {
                cancel()
                throw isCancelled ? .commandCancelled : .noAnswer
            }
            try wait(interruption, until: deadline)
            if interruption.count > 1 { throw .commandCancelled }
            if interruption.count == 1, !isCancelled {
                isCancelled = true
                cancel()
                deadline = Self.after(Self.cancelMilliseconds)
            }
        }
    }

    private func wait(
        _ interruption: Interruption, until deadline: UInt64?
    ) throws(ImageError) {
        let now = MonotonicClock.now()
        let left = deadline.map { $0 > now ? Int(($0 - now) / 1_000_000) + 1 : 0 }
        do throws(Errno) {
            _ = try interruption.wait(for: [number], milliseconds: left)
        } catch {
            throw ImageError(.internalError, "the wait for the end failed (\(error))")
        }
    }

    private static func after(_ milliseconds: Int) -> UInt64 {
        MonotonicClock.now() + UInt64(milliseconds) * 1_000_000
    }
}

extension ImageError {
    /// Ctrl-C ended the command.
    fileprivate static var commandCancelled: ImageError { ImageError(.cancelled, "cancelled") }

    /// The coordinator ends a request at its deadline: there is none, or it hangs.
    package static var noAnswer: ImageError {
        ImageError(
            .deadlineExceeded, "there was no answer within the time; --timeout gives it more")
    }
}

/// Ctrl-C and SIGTERM as events: the main thread looks at them wherever it waits.
package final class Interruption {
    private let signals: SignalDescriptor
    /// How many came so far.
    package private(set) var count = 0

    /// Blocks the signals; before any other thread is there.
    package init() throws(Errno) {
        try Signal.block(StopRequests.stopSignals)
        try Signal.brokenPipe.ignore()
        signals = try SignalDescriptor(StopRequests.stopSignals)
    }

    /// The same for a command that says why it cannot go on.
    package static func started() throws(ImageError) -> Interruption {
        do throws(Errno) {
            return try Interruption()
        } catch {
            throw ImageError(.internalError, "signals cannot be read (\(error))")
        }
    }

    /// Waits until one of the descriptors is readable or a signal came; the descriptors that are
    /// ready, none when the time is over.
    package func wait(for numbers: [Int32], milliseconds: Int?) throws(Errno) -> Set<Int32> {
        let ready = try ReadinessPoll.wait(
            [signals.descriptor.number] + numbers, milliseconds: milliseconds)
        while try signals.next() != nil { count += 1 }
        return ready.subtracting([signals.descriptor.number])
    }
}
