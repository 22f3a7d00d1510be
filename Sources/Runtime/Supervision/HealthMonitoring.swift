import BusConnection
public import Linux
public import Messages
import Wire
import ZeroMQ

/// Which children have not shown that they live: each has a counter that grows at least once a
/// second while its loop turns (SEMANTICS §14.9).
///
/// Looks come once a second. A child whose counter stands still for five of them hangs, unless it
/// could not run (`Standstill`). A look that comes late says nothing: whoever kept this process
/// from running may have kept the others.
struct PulseWatch: Sendable {
    private struct Pulse: Sendable {
        let incarnation: Incarnation
        var value: UInt64
        var standstill = Standstill()
    }

    private var pulses: [Int: Pulse] = [:]
    private var lastLook: Instant?

    /// Milliseconds from look to look.
    static let lookMilliseconds = 1_000
    private static let latenessMilliseconds = 500

    /// When the next look is due; `nil` before the first.
    var nextLook: Instant? { lastLook?.adding(milliseconds: Self.lookMilliseconds) }

    /// Whether it is time to look.
    func isDue(at now: Instant) -> Bool { nextLook.map { $0 <= now } ?? true }

    /// Whether a child's counter is what it was at the last look.
    func standsStill(_ slot: Int, at value: UInt64) -> Bool { pulses[slot]?.value == value }

    /// Takes the counters of the children that live, by slot, and what those that stand still
    /// `waited` for a processor, in milliseconds since the last look; names those that hang. A
    /// child without a counter is not watched.
    mutating func looked(
        _ counters: [Int: (incarnation: Incarnation, value: UInt64)], waited: [Int: Int] = [:],
        at now: Instant
    ) -> [Int] {
        let isLate =
            nextLook.map { now > $0.adding(milliseconds: Self.latenessMilliseconds) } ?? true
        lastLook = now
        pulses = pulses.filter { counters[$0.key]?.incarnation == $0.value.incarnation }
        for (slot, counter) in counters {
            var pulse = Pulse(incarnation: counter.incarnation, value: counter.value)
            if let known = pulses[slot], known.value == counter.value {
                pulse.standstill = known.standstill
                pulse.standstill.lasts(waitedMilliseconds: waited[slot] ?? 0, isLate: isLate)
            }
            pulses[slot] = pulse
        }
        return pulses.filter { $0.value.standstill.isHang }.keys.sorted()
    }

    /// It is being killed: a new life is looked at anew. How long it stood still.
    mutating func forget(_ slot: Int) -> Standstill {
        pulses.removeValue(forKey: slot)?.standstill ?? Standstill()
    }
}

/// How long a child has shown no sign of life, and why.
///
/// Only time counts in which it could have shown one: not what it waited for a processor, and not a
/// look that came late. After a minute nobody asks for the reason.
public struct Standstill: Hashable, Sendable {
    /// Milliseconds in which it could have run.
    public private(set) var stoodMilliseconds = 0
    /// Milliseconds in which it, or the supervisor, waited for a processor.
    public private(set) var waitedMilliseconds = 0
    private var looks = 0

    /// It has just shown that it lives.
    public init() {}

    /// Milliseconds after which a child hangs.
    static let stoodMax = 5_000
    /// Looks after which it hangs, whatever it waited for.
    static let looksMax = 60

    /// It showed nothing from the last look to this one, and waited for so many milliseconds of it.
    mutating func lasts(waitedMilliseconds waited: Int, isLate: Bool) {
        looks += 1
        waitedMilliseconds += waited
        // On a machine that is full of work every look may be late: what the others said stays.
        guard !isLate else { return }
        stoodMilliseconds += max(0, PulseWatch.lookMilliseconds - waited)
    }

    /// Whether it hangs.
    var isHang: Bool { stoodMilliseconds >= Self.stoodMax || looks >= Self.looksMax }
}

/// How long children that show no sign of life waited for a processor, from look to look.
///
/// What this process waited itself counts with it: it may have kept a child's answer from being
/// seen. Where the kernel does not say it, nobody waited.
struct ProcessorWaits {
    private struct Reading {
        let process: ProcessID
        let turns: ProcessorTurns
    }

    private var readings: [Int: Reading] = [:]
    private var own: ProcessorTurns?

    /// Milliseconds since the last call that each of these children waited, by slot. 0 for one that
    /// was not among them then.
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

/// Asks the coordinator for its status on `admin/`, again and again, and counts the answers: a
/// process that lives and answers nobody has to be replaced (SEMANTICS §14.9). One thread; never
/// blocks.
///
/// Whatever it answers shows that it lives, be it that it has no place for one more session, or
/// that it is of another version.
final class CoordinatorPing {
    private let context: Context
    private var connection: BusConnection
    private var encoder = MessageEncoder()
    private var decoder = MessageDecoder()
    private var isUp = false
    private var isWelcome = false
    private let incarnation = Incarnation(
        Identifier128(high: Random.uint64(), low: Random.uint64()))
    /// Answers so far.
    private(set) var answers: UInt64 = 0
    private var report: StatusReport?
    private let secret: ListenerSecret?

    /// Connects in the background.
    init(adminEndpoint: String, secret: ListenerSecret?) throws {
        self.secret = secret
        let context = try Context()
        connection = try BusConnection(
            to: try Endpoint(parsing: adminEndpoint), in: context,
            frameBytesMax: MessageLimits.frontFrameBytesMax)
        self.context = context
    }

    /// Takes what was answered since the last call, and asks again.
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
        // A hello may be lost with a place that was not free: it is said until it is answered.
        if !isWelcome { try say(.hello(hello)) }
        try say(.status)
    }

    /// The newest status that came since the last call.
    func takeReport() -> StatusReport? {
        defer { report = nil }
        return report
    }

    /// The stack drains: nobody asks any more.
    func leave() { try? say(.goodbye) }

    private var hello: ClientHello {
        ClientHello(
            incarnation: incarnation, pid: UInt32(CurrentProcess.processID),
            version: ProductVersion.text, secret: secret)
    }

    /// What finds no room is asked again in the next turn.
    private func say(_ message: ClientMessage) throws(ZMQError) {
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

/// Where a supervisor says how its children are: a socket in the runtime directory. Whoever
/// connects gets one line and is let go.
///
/// The line is a JSON object with `ok` or a complaint for each kind, for example
/// `{"decode":"ok"}`. Belongs to the supervisor's thread.
public final class HealthListener {
    private let listener: UnixListener
    private let directory: FileDescriptor
    private let name: String

    private static let prefix = "serve-"
    private static let suffix = ".sock"
    /// Connections that are answered in one turn; the others come next.
    private static let answersMax = 16

    /// Listens in the runtime directory `root` for a supervisor of one kind, or of all; what
    /// supervisors left there that have ended is removed.
    public init(in root: String, only kind: ProcessKind?) throws(Errno) {
        directory = try FileDescriptor.openDirectory(root)
        name = Self.name(of: kind) + "\(CurrentProcess.processID)\(Self.suffix)"
        Self.removeUnserved(in: root)
        listener = try UnixListener(path: "\(root)/\(name)", mode: 0o600)
    }

    deinit { try? directory.unlink(name) }

    /// Readable when somebody asks.
    var number: Int32 { listener.descriptor.number }

    /// Answers those who ask. An answer is far smaller than what a socket takes at once.
    func answer(_ line: String) {
        for _ in 0..<Self.answersMax {
            guard let asking = (try? listener.accept()) ?? nil else { return }
            // Who has gone already does not want to know.
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
                // Somebody is there, or it is not ours to judge.
            }
        }
    }
}

extension HealthListener {
    private static let answerBytesMax = 4_096

    /// What the supervisors of a kind in a runtime directory answer, those of all kinds among
    /// them; nil for one that does not answer within `milliseconds`. Empty where there is none.
    public static func ask(
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
                // Its supervisor has ended.
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
    /// How the children of each kind are, as one line of JSON: `ok` where each runs, was welcomed
    /// and is not among those `withoutSession`, else what is wrong. Somebody else's programs decide
    /// nothing.
    func healthLine(withoutSession: Set<Int> = []) -> String {
        let own = slots.indices.filter { !slots[$0].isForeign }
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
        return missing > 0 ? "\(missing) of \(count) not part of the stack" : nil
    }
}
