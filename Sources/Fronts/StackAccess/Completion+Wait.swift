package import ImageModel
import Linux

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
