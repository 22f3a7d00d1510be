/// The routes of the origin server and the requests that it received.
struct OriginLedger: Sendable {
    var routes: [String: OriginBehavior] = [:]
    var fallback = OriginBehavior.status(404)
    var requestCounts: [String: Int] = [:]
    /// The first requests by path, at most `requestsKept` each.
    var requests: [String: [OriginRequest]] = [:]
    /// The latest request by path.
    var newest: [String: OriginRequest] = [:]
    var totalRequests = 0
    /// The number of connections that the client closed, by the path of their latest request.
    var closedByClient: [String: Int] = [:]
    var openConnections = 0
    var acceptedConnections = 0
    var isStopped = false
    /// The number of running threads.
    var threads = 0

    static let requestsKept = 100

    mutating func record(_ request: OriginRequest) -> OriginBehavior {
        let path = request.path
        totalRequests += 1
        requestCounts[path, default: 0] += 1
        newest[path] = request
        if requests[path, default: []].count < Self.requestsKept {
            requests[path, default: []].append(request)
        }
        return behavior(for: path).forNextRequest()
    }

    /// The route of the path, otherwise the longest matching route `…/*`, otherwise the fallback.
    private func behavior(for path: String) -> OriginBehavior {
        if let exact = routes[path] { return exact }
        var folder = Substring(path)
        while let slash = folder.lastIndex(of: "/") {
            folder = folder[..<slash]
            if let route = routes[folder + "/*"] { return route }
        }
        return fallback
    }
}
