import Admission
import ImageModel
import Messages
import Observability

/// Which requests get a line in the log, and what stands in it.
///
/// Nothing of a request that could be secret: of its token the first digits, of its URL no user
/// info and no query, no header, no key, and of an error its name, the HTTP status, step or limit,
/// but not its words.
struct RequestLog {
    private let mode: RequestLogging
    private var budget = LineBudget(linesPerSecond: linesPerSecond)

    /// About 3 GB of log a day at most.
    static let linesPerSecond: UInt64 = 100
    /// What takes longer is slow, in milliseconds.
    static let slowMilliseconds = 1_000.0

    /// For `--log-requests`.
    init(_ mode: RequestLogging) { self.mode = mode }

    /// Whether hits may take the short way, which nobody sees.
    var permitsShortWay: Bool { mode != .all }

    /// Whether a request is to have its line.
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

    /// Whether there is room for its line in this second.
    mutating func take(at now: Instant) -> LineBudget.Verdict {
        budget.take(at: now.nanoseconds)
    }

    /// How many lines were left out and have not been told of; at the end.
    mutating func takeLeftOut() -> UInt64 { budget.takeLeftOut() }

    /// The fields of its line.
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
        if let bytes = image.reference?.length ?? image.pieceBytes {
            fields.append(("bytes", LogValue(bytes)))
        }
        if let error = image.fallbackFor {
            fields.append(("fallbackFor", .string(error.code.rule.name)))
            fields += Self.fields(error)
        }
        return fields
    }

    /// Facts of an error that are numbers, or names of ours: no word of an origin or a client.
    private static func fields(_ error: ImageError) -> [(String, LogValue)] {
        ["httpStatus", "step", "limit", "overlay", "pool"].compactMap { name in
            error.details[name].flatMap { isPlain($0) ? (name, .string($0)) : nil }
        }
    }

    private static func isPlain(_ text: String) -> Bool {
        text.utf8.count <= 64
            && text.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x5A).contains($0)
                    || (0x61...0x7A).contains($0) || $0 == 0x2D
            }
    }

    /// Milliseconds of the stages that took any.
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

    /// Its image could not be had, whatever was delivered instead.
    fileprivate var hasFailed: Bool {
        switch reply.outcome {
        case .failure: true
        case .image(let image): image.fallbackFor != nil
        case .miss, .notModified: false
        }
    }
}
