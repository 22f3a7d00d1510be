import Linux
import Model
import ProcessRuntime

extension Coordinator {
    /// Returns the current status of the stack.
    mutating func report() -> StatusReport {
        // Expires entries first, so that they are not reported.
        handle(.tick)
        var report = scheduler.report
        report.uptimeMilliseconds = UInt64(now.milliseconds(since: began))
        report.processes = [ownStatus] + peers.all.compactMap { workerStatus($0) }
        report.sockets = listenerSockets.map(\.traffic)
        report.counters += listenerCounters
        report.caches = peers.all.compactMap(\.cacheStatus)
        report.fronts = Array(peers.all.compactMap(Self.frontStatus).prefix(Self.frontsMax))
        report.unverifiedHosts = Array(
            configuration.unverifiedHosts.prefix(Self.unverifiedHostsMax))
        return report
    }

    private var ownStatus: StatusReport.ProcessStatus {
        StatusReport.ProcessStatus(
            kind: .coordinator, pid: UInt32(CurrentProcess.processID), state: "ready",
            restarts: bootstrap.restarts, jobs: 0)
    }

    private func workerStatus(_ peer: Peer) -> StatusReport.ProcessStatus? {
        guard case .worker(let pool, let hello) = peer.role else { return nil }
        let worker = scheduler.dispatcher.roster[WorkerID(peer.id)]
        let jobs = worker?.jobs ?? 0
        let state = peer.isLeaving ? "draining" : jobs > 0 ? "busy" : "ready"
        return StatusReport.ProcessStatus(
            kind: pools[pool].kind, pid: hello.pid, state: state, restarts: hello.restarts,
            jobs: UInt32(clamping: jobs), sandbox: hello.sandbox,
            credit: UInt32(clamping: worker?.window ?? 0), pool: pools[pool].name)
    }

    /// The maximum number of front ends in a status.
    private static let frontsMax = 64
    /// The maximum number of hosts without certificate verification in a status.
    private static let unverifiedHostsMax = 64

    private static func frontStatus(_ peer: Peer) -> StatusReport.FrontStatus? {
        guard case .client(let hello) = peer.role, let front = hello.front, front.isPlain else {
            return nil
        }
        return StatusReport.FrontStatus(process: front, pid: hello.pid)
    }

    private var listenerCounters: [StatusReport.Counter] {
        let rows: [(String, UInt64)] = [
            ("clients", UInt64(peers.count { $0.listener.isOfClients })),
            ("malformedMessages", counters.malformedMessages),
            ("expelledWorkers", counters.expelledWorkers), ("stalledPeers", counters.stalledPeers),
            ("strangers", counters.unknownConnections),
            ("refusedConnections", listenerSockets.reduce(0) { $0 + $1.refusedConnections }),
            ("lostClients", counters.lostClients), ("lostWorkers", counters.lostWorkers),
            ("pieceDeliveries", counters.chunkDeliveries), ("uploads", counters.uploads),
        ]
        return rows.map { StatusReport.Counter(name: $0.0, value: $0.1) }
    }
}

/// Counters of the listeners, in addition to those of the scheduler.
struct CoordinatorCounters {
    /// Messages that could not be decoded.
    var malformedMessages: UInt64 = 0
    /// Workers whose session was ended because of a protocol violation.
    var expelledWorkers: UInt64 = 0
    /// Sessions that ended because the peer did not read.
    var stalledPeers: UInt64 = 0
    /// Connections that ended without ever having a session: not ZeroMQ, a frame over the limit, or
    /// no hello.
    var unknownConnections: UInt64 = 0
    /// Client sessions whose connection ended without a goodbye: the peer crashed, or sent a frame
    /// over the limit.
    var lostClients: UInt64 = 0
    /// Worker sessions whose connection ended without a goodbye.
    var lostWorkers: UInt64 = 0
    /// Results delivered in chunks, and uploads.
    var chunkDeliveries: UInt64 = 0
    var uploads: UInt64 = 0
}

/// Decides which requests are logged, and formats their lines.
///
/// Lines contain nothing that could be secret: of the token only the first digits, of the URL
/// neither user info nor query, no headers and no keys, and of an error its name, HTTP status, step
/// or limit, but not its message.
struct RequestLog {
    private let mode: RequestLogging
    private var budget = LineBudget(linesPerSecond: linesPerSecond)

    /// Limits the log to about 3 GB per day.
    static let linesPerSecond: UInt64 = 100
    /// The duration in milliseconds above which a request is slow.
    static let slowMilliseconds = 1_000.0

    init(_ mode: RequestLogging) { self.mode = mode }

    /// Whether hits may use the fast path, which doesn't log.
    var permitsShortWay: Bool { mode != .all }

    /// Returns whether a request is to be logged.
    func wants(_ record: RequestRecord) -> Bool {
        guard !record.logContext.isProbe else { return false }
        return switch mode {
        case .none: false
        case .all: true
        case _ where record.logContext.isSampled: true
        case .misses: !record.isFromMemory
        case .slow:
            record.hasFailed || record.reply.timings.total >= Self.slowMilliseconds
        }
    }

    /// Accounts for one line and decides whether the rate limit allows it.
    mutating func admit(at now: Instant) -> LineBudget.Verdict {
        budget.admit(at: now.nanoseconds)
    }

    /// Returns the number of suppressed lines that were not reported yet; call at the end.
    mutating func drainLeftOut() -> UInt64 { budget.drainLeftOut() }

    /// Returns the fields of a request's line.
    static func fields(_ record: RequestRecord) -> [(String, LogValue)] {
        let reply = record.reply
        var fields: [(String, LogValue)] = []
        fields.reserveCapacity(16)
        fields.append(("token", .string(reply.token.value.short)))
        switch reply.outcome {
        case .image(let image):
            fields.append(("outcome", "image"))
            fields += Self.fields(image)
        case .miss: fields.append(("outcome", "miss"))
        case .notModified: fields.append(("outcome", "notModified"))
        case .failure(let error):
            fields.append(("outcome", "error"))
            fields.append(("error", .string(error.code.rule.name)))
            fields += Self.fields(error)
        }
        if let url = try? SourceURL(record.url) { fields.append(("url", .string(url.forLogs))) }
        fields += Self.fields(reply.timings)
        if record.attempts > 1 { fields.append(("attempts", LogValue(record.attempts))) }
        fields += record.logContext.fields.map { ($0.name, LogValue.string($0.text)) }
        return fields
    }

    private static func fields(_ image: DeliveredImage) -> [(String, LogValue)] {
        var fields: [(String, LogValue)] = [
            ("cache", .string(image.cacheType.name)), ("format", .string(image.info.format.name)),
        ]
        if let bytes = image.reference?.length ?? image.chunkBytes {
            fields.append(("bytes", LogValue(bytes)))
        }
        if let error = image.fallbackFor {
            fields.append(("fallbackFor", .string(error.code.rule.name)))
            fields += Self.fields(error)
        }
        return fields
    }

    /// Returns the details of an error that are numbers or known names, never text of an origin or
    /// a client.
    private static func fields(_ error: ImageError) -> [(String, LogValue)] {
        loggedDetails.compactMap { name in
            error.details[name].flatMap { isPlain($0) ? (name, .string($0)) : nil }
        }
    }

    private static let loggedDetails = ["httpStatus", "step", "limit", "overlay", "pool"]

    private static func isPlain(_ text: String) -> Bool {
        text.utf8.count <= 64
            && text.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x5A).contains($0)
                    || (0x61...0x7A).contains($0) || $0 == 0x2D
            }
    }

    /// Returns the milliseconds of the stages that took any time.
    private static func fields(_ timings: StageTimings) -> [(String, LogValue)] {
        var fields = [("totalMilliseconds", LogValue(milliseconds: timings.total))]
        func add(_ name: String, _ milliseconds: Double) {
            if milliseconds > 0 { fields.append((name, LogValue(milliseconds: milliseconds))) }
        }
        add("queueMilliseconds", timings.queue)
        add("queryMilliseconds", timings.query)
        add("fetchMilliseconds", timings.fetch)
        add("decodeMilliseconds", timings.decode)
        add("transformMilliseconds", timings.transform)
        add("storeMilliseconds", timings.store)
        return fields
    }
}

extension RequestRecord {
    fileprivate var isFromMemory: Bool {
        guard case .image(let image) = reply.outcome else { return false }
        return image.cacheType == .memory && image.fallbackFor == nil
    }

    /// Whether its image was not available, even if a fallback was delivered instead.
    fileprivate var hasFailed: Bool {
        switch reply.outcome {
        case .failure: true
        case .image(let image): image.fallbackFor != nil
        case .miss, .notModified: false
        }
    }
}

// The request log: one line for each selected request.
extension Coordinator {
    mutating func log(_ record: RequestRecord) {
        guard bootstrap.log.level <= .info, requestLog.wants(record) else { return }
        guard case .write(let leftOut) = requestLog.admit(at: now) else { return }
        logDropped(leftOut)
        bootstrap.log.write(.info, "request", fields: RequestLog.fields(record))
    }

    /// Logs the number of suppressed lines, as soon as the rate limit allows it or at the end.
    func logDropped(_ count: UInt64) {
        guard count > 0 else { return }
        bootstrap.log.warning("request log lines dropped", ["count": LogValue(count)])
    }
}
