import EventLoop
package import Linux
package import Messages
package import MicroHTTPD

/// What a front's loop tells the program that runs it.
package enum WebFrontEvent: Hashable, Sendable {
    /// It turns; about once a second.
    case alive
    /// SIGHUP: what lies in files is read anew.
    case hangUp
}

/// Runs a front until it is told to end: SIGTERM or SIGINT, the second of which does not wait.
///
/// First `/ready` says no, so that a proxy sends nothing more; then no connection is taken; then
/// those that are there get their answers.
package struct WebFrontLoop: ~Copyable {
    private let front: WebFront
    private let server: EventedHTTPServer
    private let signals: SignalDescriptor
    private let side: [SideListener]
    private var loop: EventLoop
    private let sources: Sources
    private var ending = Ending.no
    private var nextBeat = Instant.now()

    /// Milliseconds between the first no of `/ready` and the end of listening, and from there to
    /// the end of the process.
    private static let (unreadyMilliseconds, drainMilliseconds) = (1_000, 30_000)
    /// How long connections that are half made have to become whole, before the socket is closed.
    private static let lastCallMilliseconds = 50
    /// How long a connection that is there may ask nothing, before it is closed.
    private static let quietMilliseconds = 1_000
    private static let beatMilliseconds = 1_000

    private struct Sources {
        let server: EventSource
        let front: EventSource
        let readiness: EventSource
        let signals: EventSource
        /// In the order of the listeners.
        let side: [EventSource]
    }

    /// Takes over both, the signals that tell it to end, and further listeners.
    package init(
        _ front: WebFront, _ server: consuming EventedHTTPServer,
        _ signals: consuming SignalDescriptor, side: [SideListener] = []
    ) {
        var loop = EventLoop(sourcesMax: 4 + 2 * side.count)
        var fronts: [EventSource] = []
        for listener in side {
            fronts.append(loop.add(descriptor: listener.front.descriptor))
            _ = loop.add(descriptor: listener.server.descriptor)
        }
        sources = Sources(
            server: loop.add(descriptor: server.descriptor),
            front: loop.add(descriptor: front.descriptor),
            readiness: loop.add(descriptor: front.readiness.descriptor),
            signals: loop.add(descriptor: signals.descriptor.number), side: fronts)
        self.loop = consume loop
        self.side = side
        self.front = front
        self.server = server
        self.signals = signals
    }

    /// Where the end stands.
    private enum Ending {
        case no
        /// Unready until then.
        case unready(Instant)
        /// Connections that were begun are taken until then, and no others.
        case lastCall(Instant)
        /// Whoever is there is answered until then; since when nobody has asked anything.
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

    /// Returns after the end; true where all were answered. `tell` may take its time: nobody is
    /// answered meanwhile.
    package mutating func run(_ tell: (WebFrontEvent) -> Void = { _ in }) throws -> Bool {
        while true {
            let turn = try loop.wait(until: nextTurn)
            serve(turn)
            var isTold = false
            while turn.ready.contains(sources.signals), let received = try signals.next() {
                if received.signal == .hangUp { tell(.hangUp) } else { isTold = true }
            }
            if turn.wokenAt >= nextBeat {
                nextBeat = turn.wokenAt.adding(milliseconds: Self.beatMilliseconds)
                tell(.alive)
            }
            if let isDone = goOn(isTold, at: turn.wokenAt) { return isDone }
        }
    }

    private mutating func serve(_ turn: EventLoop.Turn) {
        if turn.ready.contains(sources.front) { front.takeEnds() }
        if turn.ready.contains(sources.readiness) { front.readiness.takeEnd() }
        front.readiness.look(at: turn.wokenAt)
        server.run()
        front.reportRefusedConnections(at: turn.wokenAt)
        (front.connectionCount, front.slowReaders) = (server.connectionCount, server.slowReaders)
        for (listener, source) in zip(side, sources.side) {
            if turn.ready.contains(source) { listener.front.takeAnswers() }
            listener.front.look(at: turn.wokenAt)
            listener.server.run()
        }
    }

    /// Goes on with the end; whether all were answered, once it is over.
    private mutating func goOn(_ isTold: Bool, at now: Instant) -> Bool? {
        switch ending {
        case .no:
            guard isTold else { return nil }
            front.isEnding = true
            ending = .unready(now.adding(milliseconds: Self.unreadyMilliseconds))
        case .unready(let instant):
            guard isTold || now >= instant else { return nil }
            server.refuseConnections()
            ending = .lastCall(now.adding(milliseconds: Self.lastCallMilliseconds))
        case .lastCall(let instant):
            guard now >= instant else { return nil }
            server.stopListening()
            ending = .draining(
                now.adding(milliseconds: Self.drainMilliseconds), quietSince: nil)
        case .draining(let until, let quietSince):
            if server.connectionCount == 0 { return true }
            if isTold || now >= until { return false }
            guard front.openCount == 0 else {
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
        if let due = server.millisecondsUntilDue { next = min(next, now.adding(milliseconds: due)) }
        if let look = front.readiness.nextLook { next = min(next, look) }
        for listener in side {
            if let due = listener.server.millisecondsUntilDue {
                next = min(next, now.adding(milliseconds: due))
            }
            if let look = listener.front.nextLook { next = min(next, look) }
        }
        return next
    }
}

/// What answers on a listener of its own beside that of images. One thread, that of its loop.
package protocol SideFront: EventedHandler {
    /// Readable when the stack has answered.
    var descriptor: Int32 { get }
    /// When `look` is due at the latest; `nil`: never.
    var nextLook: Instant? { get }
    /// Takes what the stack has answered.
    func takeAnswers()
    /// Answers whoever has waited too long for the stack.
    func look(at now: Instant)
}

/// A listener beside that of images.
package final class SideListener {
    let front: any SideFront
    let server: EventedHTTPServer

    /// Takes over both.
    package init(_ front: any SideFront, _ server: consuming EventedHTTPServer) {
        self.front = front
        self.server = server
    }
}
