package import Linux
package import Model
import ProcessRuntime
import Wire
import ZeroMQ

/// Detects hung children by their heartbeat counters, which advance at least once a second while
/// their loop turns (SEMANTICS §14.9).
///
/// Counters are checked once a second. A child whose counter doesn't advance for five checks is
/// hung, unless it could not run (`Stall`). A late check is ignored: whatever delayed this
/// process may have delayed the children.
struct HeartbeatMonitor: Sendable {
    private struct HeartbeatSample: Sendable {
        let incarnation: Incarnation
        var value: UInt64
        var stall = Stall()
    }

    private var heartbeats: [Int: HeartbeatSample] = [:]
    private var lastLook: Instant?

    /// The interval between checks, in milliseconds.
    static let lookMilliseconds = 1_000
    private static let latenessMilliseconds = 500

    /// When the next check is due; `nil` before the first.
    var nextLook: Instant? { lastLook?.adding(milliseconds: Self.lookMilliseconds) }

    /// Returns whether a check is due.
    func isDue(at now: Instant) -> Bool { nextLook.map { $0 <= now } ?? true }

    /// Returns whether a child's counter is unchanged since the last check.
    func standsStill(_ slot: Int, at value: UInt64) -> Bool { heartbeats[slot]?.value == value }

    /// Processes the counters of running children, by slot, and the milliseconds that stalled ones
    /// `waited` for a processor since the last check; returns the hung children. A child without a
    /// counter is not monitored.
    mutating func looked(
        _ counters: [Int: (incarnation: Incarnation, value: UInt64)], waited: [Int: Int] = [:],
        at now: Instant
    ) -> [Int] {
        let isLate =
            nextLook.map { now > $0.adding(milliseconds: Self.latenessMilliseconds) } ?? true
        lastLook = now
        heartbeats = heartbeats.filter { counters[$0.key]?.incarnation == $0.value.incarnation }
        for (slot, counter) in counters {
            var heartbeat = HeartbeatSample(incarnation: counter.incarnation, value: counter.value)
            if let known = heartbeats[slot], known.value == counter.value {
                heartbeat.stall = known.stall
                heartbeat.stall.lasts(waitedMilliseconds: waited[slot] ?? 0, isLate: isLate)
            }
            heartbeats[slot] = heartbeat
        }
        return heartbeats.filter { $0.value.stall.isHang }.keys.sorted()
    }

    /// Stops monitoring a child that is being killed, and returns how long it was stalled. Its next
    /// incarnation starts fresh.
    mutating func forget(_ slot: Int) -> Stall {
        heartbeats.removeValue(forKey: slot)?.stall ?? Stall()
    }
}

/// How long a child has sent no heartbeat, and why.
///
/// Only time in which it could have run counts: neither time that it waited for a processor nor a
/// late check. After 60 checks it counts as hung regardless of the reason.
package struct Stall: Hashable, Sendable {
    /// Milliseconds in which it could have run.
    package private(set) var stoodMilliseconds = 0
    /// Milliseconds in which it or the supervisor waited for a processor.
    package private(set) var waitedMilliseconds = 0
    private var looks = 0

    /// Milliseconds of runnable time after which a child counts as hung.
    static let stoodMax = 5_000
    /// Checks after which it counts as hung, regardless of waiting.
    static let looksMax = 60

    /// Records that the child sent no heartbeat between two checks, and how many milliseconds of
    /// that it waited for a processor.
    mutating func lasts(waitedMilliseconds waited: Int, isLate: Bool) {
        looks += 1
        waitedMilliseconds += waited
        // On an overloaded machine every check may be late: earlier results are kept.
        guard !isLate else { return }
        stoodMilliseconds += max(0, HeartbeatMonitor.lookMilliseconds - waited)
    }

    /// Whether it is hung.
    var isHang: Bool { stoodMilliseconds >= Self.stoodMax || looks >= Self.looksMax }
}

/// Measures how long stalled children waited for a processor between checks.
///
/// The waiting time of this process is included, since it may have delayed reading a child's
/// answer. If the kernel doesn't report waiting times, they count as zero.
struct ProcessorWaits {
    private struct Reading {
        let process: ProcessID
        let turns: ProcessorTurns
    }

    private var readings: [Int: Reading] = [:]
    private var own: ProcessorTurns?

    /// Returns the milliseconds that each of these children waited since the last call, by slot; 0
    /// for a child that was not included then.
    mutating func look(at children: [Int: ProcessID]) -> [Int: Int] {
        let last = readings
        readings = children.compactMapValues { process in
            (try? ProcessorTurns(of: process)).map { Reading(process: process, turns: $0) }
        }
        let lastOwn = own
        own = children.isEmpty ? nil : try? ProcessorTurns(of: CurrentProcess.processID)
        guard let own, let lastOwn else { return [:] }
        let ownWait = own.waitedUntilItRan(since: lastOwn)
        return children.keys.reduce(into: [:]) { waits, slot in
            let wait = Self.wait(from: last[slot], to: readings[slot]) + ownWait
            waits[slot] = Int(min(wait, own.takenAt - lastOwn.takenAt) / 1_000_000)
        }
    }

    private static func wait(from earlier: Reading?, to now: Reading?) -> UInt64 {
        guard let earlier, let now, earlier.process == now.process else { return 0 }
        return now.turns.waited(since: earlier.turns)
    }
}

/// Polls the coordinator's status on `admin/` and counts the answers: a running process that
/// answers nobody must be replaced (SEMANTICS §14.9). Confined to one thread; never blocks.
///
/// Any answer counts as alive, including that all sessions are in use or that the version differs.
final class CoordinatorPing {
    private var connection: BusConnection
    private var encoder = MessageEncoder()
    private var decoder = MessageDecoder()
    private var isUp = false
    private var isWelcome = false
    private let incarnation = Incarnation(
        Identifier128(high: Random.uint64(), low: Random.uint64()))
    /// The number of answers so far.
    private(set) var answers: UInt64 = 0
    private var report: StatusReport?
    private let secret: ListenerSecret?

    /// Connects in the background.
    init(adminEndpoint: String, secret: ListenerSecret?) throws {
        self.secret = secret
        connection = try BusConnection(
            to: try Endpoint(parsing: adminEndpoint), in: try Context(),
            frameBytesMax: MessageLimits.frontFrameBytesMax)
    }

    /// Reads the answers since the last call and sends the next request.
    func turn() throws(ZMQError) {
        while let event = try connection.nextLinkEvent() {
            isUp = event == .up
            isWelcome = false
        }
        while try connection.receive() {
            answers += 1
            guard let answer = try? Self.decode(connection, &decoder) else { continue }
            switch answer {
            case .welcome: isWelcome = true
            case .helloRequired: isWelcome = false
            case .status(let report): self.report = report
            default: continue
            }
        }
        guard isUp else { return }
        // A hello can be lost while all sessions are in use, so it is repeated until it is
        // answered.
        if !isWelcome { try send(.hello(hello)) }
        try send(.status)
    }

    /// Returns the newest status received since the last call.
    func drainReport() -> StatusReport? {
        defer { report = nil }
        return report
    }

    /// Says goodbye when the stack drains, since no more status is needed.
    func leave() { try? send(.goodbye) }

    private var hello: ClientHello {
        ClientHello(
            incarnation: incarnation, pid: UInt32(CurrentProcess.processID),
            version: ProductVersion.text, secret: secret)
    }

    /// Sends a message; if the queue is full, the next turn retries.
    private func send(_ message: ClientMessage) throws(ZMQError) {
        guard let encoded = try? encoder.encode(message) else { return }
        _ = try connection.socket.send(encoded, from: encoder)
    }

    private static func decode(
        _ connection: borrowing BusConnection, _ decoder: inout MessageDecoder
    ) throws(WireError) -> ServerMessage {
        guard connection.frameCount == 2 else { throw .notOurs }
        let header = try FrameHeader(decoding: connection.frame(0))
        return try decoder.serverMessage(header.kind, connection.frame(1))
    }
}

/// Serves the health of a supervisor's children on a socket in the runtime directory. Each
/// connection receives one line and is closed.
///
/// The line is a JSON object with `ok` or an error for each kind, for example `{"decode":"ok"}`.
/// Confined to the supervisor's thread.
package final class HealthListener {
    private let listener: UnixListener
    private let directory: FileDescriptor
    private let name: String

    private static let prefix = "serve-"
    private static let suffix = ".sock"
    /// The maximum number of connections answered per turn; the rest are answered in the next.
    private static let answersMax = 16

    /// Listens in the runtime directory `root` for a supervisor of one kind or of all kinds;
    /// removes the sockets of supervisors that have exited.
    package init(in root: String, only kind: ProcessKind?) throws(Errno) {
        directory = try FileDescriptor.openDirectory(root)
        name = Self.name(of: kind) + "\(CurrentProcess.processID)\(Self.suffix)"
        Self.removeUnserved(in: root)
        listener = try UnixListener(path: "\(root)/\(name)", mode: 0o600)
    }

    deinit { try? directory.unlink(name) }

    /// The descriptor, which becomes readable on a connection.
    var number: Int32 { listener.descriptor.number }

    /// Answers pending connections. An answer is far smaller than a socket buffer, so sending
    /// doesn't block.
    func answer(_ line: String) {
        for _ in 0..<Self.answersMax {
            guard let asking = (try? listener.accept()) ?? nil else { return }
            // The peer may have disconnected already; ignore that.
            _ = try? asking.send(Array(line.utf8))
        }
    }

    private static func name(of kind: ProcessKind?) -> String {
        "\(prefix)\(kind?.name ?? "all")-"
    }

    private static func removeUnserved(in root: String) {
        guard let directory = try? FileDescriptor.openDirectory(root),
            let entries = try? directory.entries()
        else { return }
        for entry in entries where entry.hasPrefix(prefix) && entry.hasSuffix(suffix) {
            do throws(Errno) {
                _ = try FileDescriptor.connect(toSocket: "\(root)/\(entry)")
            } catch .connectionRefused {
                try? directory.unlink(entry)
            } catch {
                // The socket is in use, or its state can't be determined.
            }
        }
    }
}

extension HealthListener {
    private static let answerBytesMax = 4_096

    /// Returns the answers of the supervisors of a kind in a runtime directory, including
    /// supervisors of all kinds; nil for one that doesn't answer within `milliseconds`. Empty if
    /// there are none.
    package static func ask(
        in root: String, about kind: ProcessKind, milliseconds: Int
    ) throws(Errno) -> [[UInt8]?] {
        let directory = try FileDescriptor.openDirectory(root)
        var answers: [[UInt8]?] = []
        for entry in try directory.entries().sorted()
        where entry.hasSuffix(suffix)
            && (entry.hasPrefix(name(of: kind)) || entry.hasPrefix(name(of: nil)))
        {
            do throws(Errno) {
                let connection = try FileDescriptor.connect(toSocket: "\(root)/\(entry)")
                answers.append(try read(connection, milliseconds: milliseconds))
            } catch .connectionRefused {
                // Its supervisor has exited.
            } catch {
                answers.append(nil)
            }
        }
        return answers
    }

    private static func read(
        _ connection: borrowing FileDescriptor, milliseconds: Int
    ) throws(Errno) -> [UInt8]? {
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: answerBytesMax, alignment: 16)
        defer { buffer.deallocate() }
        guard try connection.wait(for: .readable, milliseconds: milliseconds) else { return nil }
        let count = try connection.read(into: buffer)
        return Array(buffer[..<count])
    }
}

extension SupervisorState {
    /// Returns the health of each kind as one line of JSON: `ok` if every child runs, was welcomed
    /// and is not in `withoutSession`, else the error. External programs are ignored.
    func healthLine(withoutSession: Set<Int> = []) -> String {
        let own = slots.indices.filter { !slots[$0].isExternal }
        let kinds = Set(own.map { slots[$0].kind }).sorted { $0.name < $1.name }
        let members = kinds.map { kind in
            let places = own.filter { slots[$0].kind == kind }
            let missing = places.count { !slots[$0].isWelcomed || withoutSession.contains($0) }
            return "\"\(kind.name)\":\"\(complaint(missing, of: places.count) ?? "ok")\""
        }
        return "{\(members.joined(separator: ","))}\n"
    }

    private func complaint(_ missing: Int, of count: Int) -> String? {
        guard phase == .running else { return "shutting down" }
        return missing > 0 ? "\(missing) of \(count) not connected" : nil
    }
}
