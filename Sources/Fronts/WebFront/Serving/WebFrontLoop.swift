package import Linux
package import MicroHTTPD
package import Model
import ProcessRuntime

/// An event reported by a front's loop to the program that runs it.
package enum WebFrontEvent: Hashable, Sendable {
    /// The loop is running; sent about once per second.
    case alive
    /// SIGHUP was received: files must be reloaded.
    case hangUp
}

/// Runs a front until SIGTERM or SIGINT; a repeated one ends the shutdown at once.
///
/// The shutdown has three phases: `/ready` reports not ready, so that proxies stop sending
/// requests; new connections are no longer accepted; open requests are answered.
package struct WebFrontLoop: ~Copyable {
    private let front: WebFront
    private let server: EventedHTTPServer
    private let signals: SignalDescriptor
    private var stopSignals: StopSignals
    private let side: [SideListener]
    private var loop: EventLoop
    private let signalSource: EventSource
    /// What waits for the stack, with its descriptors.
    private let parts: [(part: any LoopPart, source: EventSource)]
    private var ending = ShutdownPhase.no
    private var nextBeat = Instant.now()

    /// The time between reporting not ready and closing the listening socket, and from then to the
    /// end of the process, in milliseconds.
    private static let (unreadyMilliseconds, drainMilliseconds) = (1_000, 30_000)
    /// How long pending connections may take to be accepted before the listening socket is closed,
    /// in milliseconds.
    private static let lastCallMilliseconds = 50
    /// How long connections may be idle before they are closed, in milliseconds.
    private static let quietMilliseconds = 1_000
    private static let beatMilliseconds = 1_000

    /// Takes ownership of the server, the signals that stop the loop, and additional listeners.
    /// `stopSignals` tells the supervisor's signals from others.
    package init(
        _ front: WebFront, _ server: consuming EventedHTTPServer,
        _ signals: consuming SignalDescriptor, _ stopSignals: StopSignals,
        side: [SideListener] = []
    ) {
        var loop = EventLoop(sourcesMax: 4 + 2 * side.count)
        var parts: [(part: any LoopPart, source: EventSource)] = []
        let all: [any LoopPart] = [front, front.readiness] + side.map { $0.front }
        for part in all {
            parts.append((part, loop.add(descriptor: part.descriptor)))
        }
        for listener in side { _ = loop.add(descriptor: listener.server.descriptor) }
        _ = loop.add(descriptor: server.descriptor)
        signalSource = loop.add(descriptor: signals.descriptor.number)
        self.parts = parts
        self.loop = consume loop
        self.side = side
        self.front = front
        self.server = server
        self.signals = signals
        self.stopSignals = stopSignals
    }

    private enum ShutdownPhase {
        case no
        /// Reports not ready until this time.
        case unready(Instant)
        /// Accepts pending connections, but no others, until this time.
        case lastCall(Instant)
        /// Answers open requests until this time; also records since when no request has arrived.
        case draining(Instant, quietSince: Instant?)

        var next: Instant? {
            switch self {
            case .no: nil
            case .unready(let instant), .lastCall(let instant): instant
            case .draining(let until, let quietSince):
                quietSince.map {
                    min(until, $0.adding(milliseconds: WebFrontLoop.quietMilliseconds))
                } ?? until
            }
        }
    }

    /// Runs until the end; returns whether all requests were answered. `notify` blocks the loop
    /// while it runs, so no requests are answered meanwhile.
    package mutating func run(_ notify: (WebFrontEvent) -> Void = { _ in }) throws -> Bool {
        while true {
            let turn = try loop.wait(until: nextTurn)
            serve(turn)
            var (mustStop, isForced) = (false, false)
            while turn.ready.contains(signalSource), let received = try signals.next() {
                guard received.signal != .hangUp else {
                    notify(.hangUp)
                    continue
                }
                mustStop = true
                if stopSignals.record(received) { isForced = true }
            }
            if turn.wokenAt >= nextBeat {
                nextBeat = turn.wokenAt.adding(milliseconds: Self.beatMilliseconds)
                notify(.alive)
            }
            if isForced { return front.requests.counters.inProgress == 0 }
            if let isDone = goOn(mustStop, at: turn.wokenAt) { return isDone }
        }
    }

    private mutating func serve(_ turn: EventLoop.Turn) {
        for (part, source) in parts {
            if turn.ready.contains(source) { part.handleAnswers() }
            part.look(at: turn.wokenAt)
        }
        server.run()
        front.reportRefusedConnections(at: turn.wokenAt)
        (front.connectionCount, front.slowReaders) = (server.connectionCount, server.slowReaders)
        for listener in side { listener.server.run() }
    }

    /// Continues the shutdown. When it is complete, returns whether all requests were answered.
    private mutating func goOn(_ mustStop: Bool, at now: Instant) -> Bool? {
        switch ending {
        case .no:
            guard mustStop else { return nil }
            front.isEnding = true
            ending = .unready(now.adding(milliseconds: Self.unreadyMilliseconds))
        case .unready(let instant):
            guard now >= instant else { return nil }
            server.refuseConnections()
            ending = .lastCall(now.adding(milliseconds: Self.lastCallMilliseconds))
        case .lastCall(let instant):
            guard now >= instant else { return nil }
            server.stopListening()
            ending = .draining(
                now.adding(milliseconds: Self.drainMilliseconds), quietSince: nil)
        case .draining(let until, let quietSince):
            if server.connectionCount == 0 { return true }
            if now >= until { return false }
            guard front.requests.counters.inProgress == 0 else {
                ending = .draining(until, quietSince: nil)
                return nil
            }
            let since = quietSince ?? now
            if now >= since.adding(milliseconds: Self.quietMilliseconds) { return true }
            ending = .draining(until, quietSince: since)
        }
        return nil
    }

    private var nextTurn: Instant {
        let now = Instant.now()
        var next = min(nextBeat, ending.next ?? nextBeat)
        for (part, _) in parts { next = min(next, part.nextLook ?? next) }
        if let due = server.millisecondsUntilDue { next = min(next, now.adding(milliseconds: due)) }
        for listener in side {
            guard let due = listener.server.millisecondsUntilDue else { continue }
            next = min(next, now.adding(milliseconds: due))
        }
        return next
    }
}

/// A service that waits for the stack. Single-threaded, on its loop.
package protocol LoopPart {
    /// Readable when the stack has answered.
    var descriptor: Int32 { get }
    /// When to call `look`; `nil` for never.
    var nextLook: Instant? { get }
    /// Handles answers of the stack.
    func handleAnswers()
    /// Answers requests that have waited too long for the stack.
    func look(at now: Instant)
}

extension LoopPart {
    /// Never: the client of the stack handles timeouts.
    package var nextLook: Instant? { nil }

    package func look(at _: Instant) {}
}

/// A service on a separate listener besides that of images.
package typealias SideFront = EventedHandler & LoopPart

/// An additional listener.
package final class SideListener {
    let front: any SideFront
    let server: EventedHTTPServer

    /// Takes ownership of both.
    package init(_ front: any SideFront, _ server: consuming EventedHTTPServer) {
        self.front = front
        self.server = server
    }
}
