import Messages
package import Observability

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
