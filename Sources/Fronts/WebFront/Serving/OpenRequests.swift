import EventLoop
package import Messages
package import MicroHTTPD
package import Observability

/// What a front knows of a request from its head to the end of its answer; the note of its
/// exchange.
package final class OpenRequest {
    let begun: Instant
    let peer: PeerAddress
    /// The client that a trusted proxy names, else the peer; `nil` as long as nobody asks.
    var client: String?
    /// Whether a trusted proxy passed it on.
    var isFromProxy = false
    /// By which names logs find it; `nil` as long as nobody asks.
    var ids: RequestIDs?
    var source: String?
    /// The load that it waits for.
    var load: UInt64?
    /// The name of the error that it is answered with.
    var error: String?
    /// Where the image came from that it is answered with.
    var cache: CacheResult?
    /// What is being sent of it and counts as not read.
    var unread: UnreadAnswers.Answer?
    /// Which token for uploads it had.
    var token: Int?
    /// Whether it asks for nothing but whether the process is there and can answer.
    var isHealthCheck = false

    init(begun: Instant, peer: PeerAddress) { (self.begun, self.peer) = (begun, peer) }
}

/// The requests of a front from their heads to the ends of their answers: counts them, and has each
/// written into the access log.
package final class OpenRequests {
    private let log: AccessLog?
    /// What became of those that are over.
    package private(set) var counters = RequestCounters()

    /// With a `log`, each request has a line there.
    package init(log: AccessLog? = nil) { self.log = log }

    /// Those whose answers were not sent to the end.
    package private(set) var count = 0

    /// Whether lines are written.
    package var isLogged: Bool { log != nil }

    /// A request has come as a whole.
    package func begin(_ exchange: EventedExchange) -> OpenRequest {
        let request = OpenRequest(begun: .now(), peer: exchange.peer)
        exchange.note = request
        count += 1
        return request
    }

    /// It asks for something made of this source.
    package func name(_ source: String, of exchange: EventedExchange) {
        guard log != nil else { return }
        exchange.open?.source = source
    }

    /// It is over. Returns what was known of it.
    @discardableResult
    package func end(_ exchange: EventedExchange, _ end: HTTPEnd) -> OpenRequest? {
        guard let request = exchange.open else { return nil }
        exchange.note = nil
        count -= 1
        let now = Instant.now()
        let bytes = exchange.method == "HEAD" ? 0 : exchange.answered?.bodyBytes ?? 0
        if let answered = exchange.answered, end == .complete {
            counters.answered(answered.status, bytes: bytes, from: request.begun, to: now)
        } else {
            counters.left()
        }
        write(request, of: exchange, end, bytes, at: now)
        return request
    }

    /// Health checks come all the time: only those that fail have a line.
    private func write(
        _ request: OpenRequest, of exchange: EventedExchange, _ end: HTTPEnd, _ bytes: Int,
        at now: Instant
    ) {
        let status = end == .complete ? exchange.answered?.status : nil
        guard let log, !request.isHealthCheck || status ?? 0 >= 400 else { return }
        let peer = request.peer.text
        var line = AccessLog.Line(
            method: exchange.method, target: exchange.target, source: request.source, peer: peer,
            status: status, bytes: status == nil ? 0 : bytes,
            microseconds: request.begun.microseconds(to: now))
        line.client = request.client ?? peer
        (line.error, line.cache, line.ids) = (request.error, request.cache, request.ids)
        line.token = request.token
        log.write(line)
    }
}

extension EventedExchange {
    /// `nil` once it is over.
    var open: OpenRequest? { note as? OpenRequest }
}

extension Instant {
    fileprivate func microseconds(to end: Instant) -> Int64 {
        Int64(clamping: end.nanoseconds > nanoseconds ? (end.nanoseconds - nanoseconds) / 1_000 : 0)
    }
}

/// What became of the requests of a front. A value without a clock.
package struct RequestCounters: Hashable, Sendable {
    /// Requests that were answered to the end, by status from `statuses.lowerBound` on.
    private var answered = [UInt64](repeating: 0, count: statuses.count)
    /// Those among them that the client had already.
    package private(set) var notModified: UInt64 = 0
    /// Requests whose peer left before.
    package private(set) var abandoned: UInt64 = 0
    /// Bytes of bodies.
    package private(set) var bytes: UInt64 = 0
    /// From the end of the head to the end of the answer, of those that were answered.
    package private(set) var durations = LatencyHistogram()

    /// Other statuses count as the nearest of these.
    package static let statuses: ClosedRange<UInt16> = 100...599

    package init() {}

    /// All that were answered.
    package var answeredCount: UInt64 { answered.reduce(0, &+) }

    /// Those that were answered, by status; none that never was.
    package var byStatus: [(status: UInt16, count: UInt64)] {
        zip(Self.statuses, answered).filter { $0.1 > 0 }.map { ($0.0, $0.1) }
    }

    /// A request was answered to the end.
    package mutating func answered(
        _ status: UInt16, bytes count: Int, from begin: Instant, to end: Instant
    ) {
        let (first, last) = (Self.statuses.lowerBound, Self.statuses.upperBound)
        answered[Int(min(max(status, first), last) - first)] &+= 1
        if status == 304 { notModified &+= 1 }
        bytes &+= UInt64(clamping: count)
        durations.record(from: begin, to: end)
    }

    /// A peer left before its answer was there.
    package mutating func left() { abandoned &+= 1 }
}

/// A line of JSON for each request, in which neither a signature nor a query is: who reads logs may
/// not ask for what is signed, nor sign in at an origin.
package struct AccessLog: Sendable {
    private let log: Log
    /// What stands before all paths.
    package var pathPrefix = ""

    /// What is known of a request that is over.
    package struct Line: Hashable, Sendable {
        package var method: String
        package var target: String
        /// The URL of the image that it asked for; nil where the target was not read.
        package var source: String?
        package var peer: String
        /// The client that a trusted proxy names; else the peer.
        package var client: String
        /// nil: the peer left before.
        package var status: UInt16?
        /// The name of the error that was reported.
        package var error: String?
        /// Where the image came from.
        package var cache: CacheResult?
        /// The names of the request; nil: it needed none.
        package var ids: RequestIDs?
        /// Which of the tokens for uploads it had, counted from 1.
        package var token: Int?
        /// Of the body.
        package var bytes: Int
        package var microseconds: Int64

        package init(
            method: String, target: String, source: String?, peer: String, status: UInt16?,
            bytes: Int, microseconds: Int64
        ) {
            (self.method, self.target, self.source) = (method, target, source)
            (self.peer, client, self.status, self.bytes) = (peer, peer, status, bytes)
            self.microseconds = microseconds
        }
    }

    /// Writes lines to a log that has them in JSON, from level info on.
    package init(_ log: Log) { self.log = log }

    package func write(_ line: Line) {
        log.write(.info, "request", fields: fields(of: line))
    }

    private func fields(of line: Line) -> [(String, LogValue)] {
        var fields: [(String, LogValue)] = [
            ("method", .string(Self.word(line.method))),
            ("path", .string(path(of: line.target))),
            ("source", .string(line.source.map { ReducedPath.source($0) } ?? "")),
            ("status", line.status.map { LogValue($0) } ?? .string("left")),
            ("bytes", LogValue(line.bytes)),
            ("milliseconds", .milliseconds(line.microseconds)), ("peer", .string(line.peer)),
            ("client", .string(line.client)),
        ]
        if let error = line.error { fields.append(("error", .string(error))) }
        if let cache = line.cache { fields.append(("cache", .string(cache.rawValue))) }
        if let ids = line.ids {
            fields += ids.logContext.fields.map { ($0.name, LogValue.string($0.text)) }
        }
        if let token = line.token { fields.append(("token", LogValue(token))) }
        return fields
    }

    /// The prefix is no signature, which is what a path begins with.
    private func path(of target: String) -> String {
        let isBelow = !pathPrefix.isEmpty && target.hasPrefix("\(pathPrefix)/")
        let rest = isBelow ? String(target.dropFirst(pathPrefix.count)) : target
        return (isBelow ? pathPrefix : "") + ReducedPath.text(of: rest)
    }

    /// A method is whatever a stranger says.
    private static func word(_ text: String) -> String {
        text.utf8.count <= 16 ? text : String(text.prefix(16)) + "…"
    }
}

/// What of a path and of a source may stand in a log.
package enum ReducedPath {
    /// The first options of a path: no signature, which comes first, and nothing of the source,
    /// which comes last and may be encoded. Text that is no short option ends it.
    package static func text(of target: String) -> String {
        let path = target.prefix { $0 != "?" && $0 != "#" }
        let parts = path.split(separator: "/", maxSplits: partsMax, omittingEmptySubsequences: true)
        guard let first = parts.first else { return "/" }
        if parts.count == 1, ownPaths.contains(String(first)) { return "/\(first)" }
        let options = parts.dropFirst().prefix { isOption($0) }
        let isCut = options.count < parts.count - 1
        return "/" + (options.map(String.init) + (isCut ? ["…"] : [])).joined(separator: "/")
    }

    /// A URL without who signs in there, its query and its fragment; of data nothing but that it is
    /// some.
    package static func source(_ url: String) -> String {
        guard let colon = url.firstIndex(of: ":") else { return "…" }
        let scheme = url[..<colon]
        guard url[colon...].hasPrefix("://") else { return "\(scheme):…" }
        let rest = url[url.index(colon, offsetBy: 3)...].prefix { $0 != "?" && $0 != "#" }
        let authority = rest.prefix { $0 != "/" }
        let host = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        return "\(scheme)://\(host)\(rest[authority.endIndex...])"
    }

    /// What the server has itself.
    private static let ownPaths: Set<String> = ["live", "health", "ready", "healthcheck"]
    private static let partsMax = 64
    /// Base64 of less than this says no more than nine bytes.
    private static let wordBytesMax = 12

    /// `w:300`, `rs:fill:300:400`, `fit-in`, `300x200`: words of letters, digits and signs, each
    /// short, and among them none that begins a URL.
    private static func isOption(_ part: Substring) -> Bool {
        let words = part.split(
            omittingEmptySubsequences: false, whereSeparator: { ":,()".contains($0) })
        guard words.count > 1 || part.contains("x") || part.contains("-") || part == "smart" else {
            return false
        }
        return words.allSatisfy { isWord($0) && !schemes.contains(String($0)) }
    }

    private static let schemes: Set<String> = [
        "http", "https", "s3", "gs", "data", "file", "local",
    ]

    private static func isWord(_ word: Substring) -> Bool {
        word.utf8.count <= wordBytesMax
            && word.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
                    || (0x61...0x7A).contains(byte) || byte == UInt8(ascii: ".")
                    || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
            }
    }
}
