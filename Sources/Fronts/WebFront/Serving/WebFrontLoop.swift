import EventLoop
package import Linux
import Messages
package import MicroHTTPD

/// Runs a front until it is told to end: SIGTERM or SIGINT, the second of which does not wait.
///
/// First `/ready` says no, so that a proxy sends nothing more; then no connection is taken; then
/// those that wait get their answers.
package struct WebFrontLoop: ~Copyable {
    private let front: WebFront
    private let server: EventedHTTPServer
    private let signals: SignalDescriptor
    private var loop = EventLoop(sourcesMax: 3)
    private let sources: (server: EventSource, front: EventSource, signals: EventSource)

    /// Milliseconds between the first no of `/ready` and the end of listening, and from there to
    /// the end of the process.
    private static let (unreadyMilliseconds, drainMilliseconds) = (1_000, 30_000)

    /// Takes over both, and the signals that tell it to end.
    package init(
        _ front: WebFront, _ server: consuming EventedHTTPServer,
        _ signals: consuming SignalDescriptor
    ) {
        sources = (
            loop.add(descriptor: server.descriptor), loop.add(descriptor: front.descriptor),
            loop.add(descriptor: signals.descriptor.number)
        )
        self.front = front
        self.server = server
        self.signals = signals
    }

    /// Where the end stands.
    private enum Ending {
        case no
        /// Unready until then.
        case unready(Instant)
        /// No connection is taken, and whoever waits is answered until then.
        case draining(Instant)

        var next: Instant? {
            switch self {
            case .no: nil
            case .unready(let instant), .draining(let instant): instant
            }
        }
    }

    /// Returns after the end; true where all were answered.
    package mutating func run() throws -> Bool {
        var ending = Ending.no
        while true {
            let turn = try loop.wait(until: next(ending))
            if turn.ready.contains(sources.front) { front.takeEnds() }
            server.run()
            var isTold = false
            while turn.ready.contains(sources.signals), try signals.next() != nil { isTold = true }
            switch ending {
            case .no where isTold:
                front.isEnding = true
                ending = .unready(
                    turn.wokenAt.adding(milliseconds: Self.unreadyMilliseconds))
            case .unready(let instant) where isTold || turn.wokenAt >= instant:
                server.stopListening()
                ending = .draining(turn.wokenAt.adding(milliseconds: Self.drainMilliseconds))
            case .draining(let instant):
                if front.loadCount == 0 { return true }
                if isTold || turn.wokenAt >= instant { return false }
            default: break
            }
            if case .draining = ending, front.loadCount == 0 {
                server.run()
                return true
            }
        }
    }

    private func next(_ ending: Ending) -> Instant? {
        let due = server.millisecondsUntilDue.map { Instant.now().adding(milliseconds: $0) }
        return [ending.next, due].compactMap { $0 }.min()
    }
}
