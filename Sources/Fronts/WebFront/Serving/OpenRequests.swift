package import MicroHTTPD
package import Model
import ProcessRuntime

/// The state of a request from its head to the end of its response, attached to its exchange.
package final class OpenRequest {
    let begun: Instant
    let peer: PeerAddress
    /// The client as named by a trusted proxy, otherwise the peer; `nil` until needed.
    var client: String?
    /// Whether a trusted proxy forwarded the request.
    var isFromProxy = false
    /// The identifiers used in logs; `nil` until needed.
    var ids: LogContext?
    var source: String?
    /// The number of the load it waits for.
    var load: UInt64?
    /// The name of the error in the response.
    var error: String?
    /// Where the image in the response came from.
    var cache: CacheResult?
    /// The part of the response that counts as unread while it is being sent.
    var unread: UnreadAnswers.Answer?
    /// The number of the upload token it presented.
    var token: Int?
    var isHealthCheck = false

    init(begun: Instant, peer: PeerAddress) { (self.begun, self.peer) = (begun, peer) }
}

/// The requests of a front from their heads to the ends of their responses. Counts them and writes
/// the access log.
package final class OpenRequests {
    private let log: AccessLog?
    /// The counters of completed requests.
    package private(set) var counters = RequestCounters()

    /// Creates an empty set; with a `log`, each request is logged.
    init(log: AccessLog?) { self.log = log }

    /// Whether requests are logged.
    package var isLogged: Bool { log != nil }

    /// Registers a request that has been received completely.
    package func begin(_ exchange: EventedExchange) -> OpenRequest {
        let request = OpenRequest(begun: .now(), peer: exchange.peer)
        exchange.note = request
        counters.begin()
        return request
    }

    /// Records the source that a request refers to.
    package func name(_ source: String, of exchange: EventedExchange) {
        guard log != nil else { return }
        exchange.open?.source = source
    }

    @discardableResult
    package func end(_ exchange: EventedExchange, _ end: HTTPEnd) -> OpenRequest? {
        guard let request = exchange.open else { return nil }
        exchange.note = nil
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

    /// Logs a request. Health checks are frequent, so they are only logged if they fail.
    private func write(
        _ request: OpenRequest, of exchange: EventedExchange, _ end: HTTPEnd, _ bytes: Int,
        at now: Instant
    ) {
        let status = end == .complete ? exchange.answered?.status : nil
        guard !request.isHealthCheck || status ?? 0 >= 400 else { return }
        log?.write(
            request, exchange.method, exchange.target, status: status,
            bytes: status == nil ? 0 : bytes, microseconds: request.begun.microseconds(to: now))
    }
}

extension EventedExchange {
    /// The state of the request; `nil` once it has ended.
    var open: OpenRequest? { note as? OpenRequest }

    /// Whether the request contains identifiers, from a trusted peer or not.
    var hasIDs: Bool { LogContext.fieldNames.contains { header($0) != nil } }
}

extension Instant {
    fileprivate func microseconds(to end: Instant) -> Int64 {
        Int64(clamping: end.nanoseconds > nanoseconds ? (end.nanoseconds - nanoseconds) / 1_000 : 0)
    }
}

/// Counters of requests. A value without a clock.
package struct RequestCounters: Hashable, Sendable {
    /// The number of requests whose responses are not fully sent.
    package private(set) var inProgress = 0
    /// The number of completed requests by status, starting at `statuses.lowerBound`.
    private var answered = [UInt64](repeating: 0, count: statuses.count)
    /// The number of those answered with 304.
    package private(set) var notModified: UInt64 = 0
    /// The number of requests whose peer disconnected early.
    package private(set) var abandoned: UInt64 = 0
    /// The total size of response bodies in bytes.
    package private(set) var bytes: UInt64 = 0
    /// The durations of completed requests, from the end of the request head to the end of the
    /// response.
    package private(set) var durations = LatencyHistogram()

    /// The statuses counted separately; others count as the nearest of these.
    package static let statuses: ClosedRange<UInt16> = 100...599

    /// The total number of completed requests.
    package var answeredCount: UInt64 { answered.reduce(0, &+) }

    /// The number of completed requests by status, omitting zeros.
    package var byStatus: [(status: UInt16, count: UInt64)] {
        zip(Self.statuses, answered).filter { $0.1 > 0 }.map { ($0.0, $0.1) }
    }

    /// Counts a request that has been received.
    package mutating func begin() { inProgress += 1 }

    /// Counts a completed request.
    package mutating func answered(
        _ status: UInt16, bytes count: Int, from begin: Instant, to end: Instant
    ) {
        inProgress -= 1
        let (first, last) = (Self.statuses.lowerBound, Self.statuses.upperBound)
        answered[Int(min(max(status, first), last) - first)] &+= 1
        if status == 304 { notModified &+= 1 }
        bytes &+= UInt64(clamping: count)
        durations.record(from: begin, to: end)
    }

    /// Counts a request whose peer disconnected early.
    package mutating func left() {
        inProgress -= 1
        abandoned &+= 1
    }
}

/// An access log with one line of JSON per request. It contains neither signatures nor queries,
/// except for known options, so that reading the log does not enable anyone to request signed URLs
/// or to authenticate at an origin.
package struct AccessLog: Sendable {
    /// A JSON log.
    let log: Log
    var pathPrefix = ""
    /// The names of the options in queries.
    var queryOptions: Set<String> = []

    /// - Parameter status: The status; `nil` if the peer disconnected early.
    func write(
        _ request: OpenRequest, _ method: String, _ target: String, status: UInt16?, bytes: Int,
        microseconds: Int64
    ) {
        let peer = request.peer.text
        var fields: [(String, LogValue)] = [
            ("method", .string(Self.word(method))), ("path", .string(path(of: target))),
            ("source", .string(request.source.map { ReducedPath.source($0) } ?? "")),
            ("status", status.map { LogValue($0) } ?? .string("left")),
            ("bytes", LogValue(bytes)), ("milliseconds", .milliseconds(microseconds)),
            ("peer", .string(peer)), ("client", .string(request.client ?? peer)),
        ]
        if let error = request.error { fields.append(("error", .string(error))) }
        if let cache = request.cache { fields.append(("cache", .string(cache.rawValue))) }
        if let ids = request.ids {
            fields += ids.fields.map { ($0.name, LogValue.string($0.text)) }
        }
        if let token = request.token { fields.append(("token", LogValue(token))) }
        log.write(.info, "request", fields: fields)
    }

    /// Returns the reduced path. The path prefix is kept, because it precedes the signature.
    private func path(of target: String) -> String {
        let isBelow = !pathPrefix.isEmpty && target.hasPrefix("\(pathPrefix)/")
        let rest = isBelow ? String(target.dropFirst(pathPrefix.count)) : target
        return (isBelow ? pathPrefix : "") + ReducedPath.text(of: rest)
            + ReducedPath.query(of: rest, queryOptions)
    }

    /// Truncates a method, which is untrusted input.
    private static func word(_ text: String) -> String {
        text.utf8.count <= 16 ? text : String(text.prefix(16)) + "…"
    }
}

/// Reduces paths and source URLs to what may be logged.
package enum ReducedPath {
    /// Returns the leading options of a path, without the signature, which comes first, and the
    /// source, which comes last and may be encoded. Stops at the first part that is not a short
    /// option.
    package static func text(of target: String) -> String {
        let path = target.prefix { $0 != "?" && $0 != "#" }
        let parts = path.split(separator: "/", maxSplits: partsMax, omittingEmptySubsequences: true)
        guard let first = parts.first else { return "/" }
        if parts.count == 1, ownPaths.contains(String(first)) { return "/\(first)" }
        let options = parts.dropFirst().prefix { isOption($0) }
        let isCut = options.count < parts.count - 1
        return "/" + (options.map(String.init) + (isCut ? ["…"] : [])).joined(separator: "/")
    }

    /// Returns the options of a query, with its question mark, if their values are short; empty if
    /// there are none.
    package static func query(of target: String, _ names: Set<String>) -> String {
        guard !names.isEmpty else { return "" }
        let options = target.drop { $0 != "?" }.dropFirst().split(separator: "&").filter { pair in
            let words = pair.split(
                omittingEmptySubsequences: false, whereSeparator: { "=,%".contains($0) })
            return names.contains(String(words[0])) && words.allSatisfy(isShort)
        }
        return options.isEmpty ? "" : "?" + options.prefix(partsMax).joined(separator: "&")
    }

    /// Returns a URL without user info, query and fragment; for a `data:` URL only the scheme.
    package static func source(_ url: String) -> String {
        guard let colon = url.firstIndex(of: ":") else { return "…" }
        let scheme = url[..<colon]
        guard url[colon...].hasPrefix("://") else { return "\(scheme):…" }
        let rest = url[url.index(colon, offsetBy: 3)...].prefix { $0 != "?" && $0 != "#" }
        let authority = rest.prefix { $0 != "/" }
        let host = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        return "\(scheme)://\(host)\(rest[authority.endIndex...])"
    }

    /// Paths served by the server itself.
    private static let ownPaths: Set<String> = ["live", "health", "ready", "healthcheck"]
    private static let partsMax = 64
    /// Shorter Base64 text encodes at most nine bytes.
    private static let wordBytesMax = 12

    /// Whether a part looks like an option such as `w:300`, `rs:fill:300:400`, `fit-in` or
    /// `300x200`: short words of letters, digits and signs that don't begin a URL.
    private static func isOption(_ part: Substring) -> Bool {
        let words = part.split(
            omittingEmptySubsequences: false, whereSeparator: { ":,()".contains($0) })
        guard words.count > 1 || part.contains("x") || part.contains("-") || part == "smart" else {
            return false
        }
        return words.allSatisfy { !schemes.contains(String($0)) && isShort($0) }
    }

    private static func isShort(_ word: Substring) -> Bool {
        word.utf8.count <= wordBytesMax
            && word.utf8.allSatisfy { $0.isUnreserved && $0 != UInt8(ascii: "~") }
    }

    private static let schemes: Set<String> = [
        "http", "https", "s3", "gs", "data", "file", "local",
    ]
}
