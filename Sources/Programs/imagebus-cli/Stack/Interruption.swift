import ImageModel
import Linux
import Supervision

/// Ctrl-C and SIGTERM as events: the main thread looks at them wherever it waits.
final class Interruption {
    private let signals: SignalDescriptor
    /// How many came so far.
    private(set) var count = 0

    /// Blocks the signals; before any other thread is there.
    init() throws(Errno) {
        try Signal.block(StopRequests.stopSignals)
        try Signal.brokenPipe.ignore()
        signals = try SignalDescriptor(StopRequests.stopSignals)
    }

    /// The same for a command that says why it cannot go on.
    static func started() throws(ImageError) -> Interruption {
        do throws(Errno) {
            return try Interruption()
        } catch {
            throw ImageError(.internalError, "signals cannot be read (\(error))")
        }
    }

    /// Waits until one of the descriptors is readable or a signal came; the descriptors that are
    /// ready, none when the time is over.
    func wait(for numbers: [Int32], milliseconds: Int?) throws(Errno) -> Set<Int32> {
        let ready = try ReadinessPoll.wait(
            [signals.descriptor.number] + numbers, milliseconds: milliseconds)
        while try signals.next() != nil { count += 1 }
        return ready.subtracting([signals.descriptor.number])
    }
}
