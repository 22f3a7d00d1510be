package import Linux
package import Model
import Supervision
import Synchronization

/// The result of asynchronous work, for the main thread, which waits for it with `poll`.
package final class Completion<Value: Sendable>: Sendable {
    private let event: EventDescriptor
    private let result = Mutex<Result<Value, ImageError>?>(nil)

    package init() throws(ImageError) {
        event = try ImageError.wrap("out of file descriptors") { () throws(Errno) in
            try EventDescriptor()
        }
    }

    /// The file descriptor, readable once there is a result.
    package var number: Int32 { event.descriptor.number }

    /// The result; `nil` until the work has ended.
    package var value: Result<Value, ImageError>? { result.withLock { $0 } }

    /// Starts the work, whose result becomes the value.
    package func start(_ work: @escaping @Sendable () async throws(ImageError) -> Value) {
        Task.detached {
            let ended: Result<Value, ImageError>
            do throws(ImageError) {
                ended = .success(try await work())
            } catch {
                ended = .failure(error)
            }
            self.result.withLock { $0 = ended }
            self.event.signal()
        }
    }
}

// Waiting in a command for work that Ctrl-C cancels.
extension Completion {
    /// How long canceled work may take to end, in milliseconds.
    private static var cancelMilliseconds: Int { 2_000 }

    /// Does the work and returns its result; see `wait`.
    package static func result(
        _ interruption: Interruption, endsSoon: Bool = true, cancel: () -> Void,
        _ work: @escaping @Sendable () async throws(ImageError) -> Value
    ) throws(ImageError) -> Value {
        let completion = try Completion()
        completion.start(work)
        return try completion.wait(interruption, endsSoon: endsSoon, cancel: cancel)
    }

    /// Waits for the result, at most `milliseconds`. The first Ctrl-C cancels the work, which may
    /// take long to end unless it `endsSoon`; a second one also stops waiting. Throws the error of
    /// the work, `cancelled` or `deadlineExceeded`.
    package func wait(
        _ interruption: Interruption, atMost milliseconds: Int? = nil, endsSoon: Bool = true,
        cancel: () -> Void
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
                if endsSoon { deadline = Self.after(Self.cancelMilliseconds) }
            }
        }
    }

    private func wait(
        _ interruption: Interruption, until deadline: UInt64?
    ) throws(ImageError) {
        let now = MonotonicClock.now()
        let left = deadline.map { $0 > now ? Int(($0 - now) / 1_000_000) + 1 : 0 }
        _ = try ImageError.wrap("waiting for completion failed") { () throws(Errno) in
            try interruption.wait(for: [number], milliseconds: left)
        }
    }

    private static func after(_ milliseconds: Int) -> UInt64 {
        MonotonicClock.now() + UInt64(milliseconds) * 1_000_000
    }
}

extension ImageError {
    /// Runs `body`; its error becomes one with a code, what failed, and the error.
    package static func wrap<Value: ~Copyable>(
        _ failure: String, as code: ErrorCode = .internalError, _ body: () throws(Errno) -> Value
    ) throws(ImageError) -> Value {
        do throws(Errno) {
            return try body()
        } catch {
            throw ImageError(code, "\(failure) (\(error))")
        }
    }

    /// The error if Ctrl-C ended the command.
    static var commandCancelled: ImageError { ImageError(.cancelled, "cancelled") }

    /// The error if no coordinator answers: it ends requests at their deadline, so it is missing or
    /// hangs.
    package static var noAnswer: ImageError {
        ImageError(
            .deadlineExceeded, advising: "no answer within the timeout; raise it with --timeout")
    }
}

/// Ctrl-C and SIGTERM as events, which the main thread checks wherever it waits.
package final class Interruption {
    private let signals: SignalDescriptor
    /// The number of signals received so far.
    package private(set) var count = 0

    /// Blocks the signals. Must be called before other threads are started.
    package init() throws(ImageError) {
        signals = try ImageError.wrap("signals cannot be read") { () throws(Errno) in
            try Signal.block(StopRequests.stopSignals)
            try Signal.brokenPipe.ignore()
            return try SignalDescriptor(StopRequests.stopSignals)
        }
    }

    /// Waits until a descriptor is readable or a signal arrives. Returns the readable descriptors;
    /// none on timeout.
    package func wait(for numbers: [Int32], milliseconds: Int?) throws(Errno) -> Set<Int32> {
        let ready = try ReadinessPoll.wait(
            [signals.descriptor.number] + numbers, milliseconds: milliseconds)
        while try signals.next() != nil { count += 1 }
        return ready.subtracting([signals.descriptor.number])
    }
}
