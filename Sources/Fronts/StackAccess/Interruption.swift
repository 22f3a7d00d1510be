package import ImageModel
package import Linux
import Supervision

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
