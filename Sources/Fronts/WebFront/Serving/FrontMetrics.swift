import Reporting

/// The figures of a front in the text format of Prometheus.
package struct FrontMetrics: Hashable, Sendable {
    package var requests: RequestCounters
    /// Requests whose answers were not sent to the end.
    package var inFlight: Int
    /// Connections that are open.
    package var connections: Int
    /// Connections that were closed at the limit of their address.
    package var refusedConnections: UInt64
    /// Answers that are being sent, and those that were refused for them.
    package var unread: UnreadAnswers
    /// Connections that were closed since their peers read too slowly.
    package var slowReaders: UInt64

    package init(
        requests: RequestCounters, inFlight: Int, connections: Int, refusedConnections: UInt64,
        unread: UnreadAnswers, slowReaders: UInt64
    ) {
        (self.requests, self.inFlight, self.connections) = (requests, inFlight, connections)
        (self.refusedConnections, self.unread) = (refusedConnections, unread)
        self.slowReaders = slowReaders
    }

    /// Complete lines; those of the stack may follow.
    package var text: String { families.map(\.text).joined() }

    private var families: [MetricFamily] {
        var answered = MetricFamily(
            "imagebus_gateway_requests_total", .counter,
            "Requests that were answered to the end, by status.")
        for (status, count) in requests.byStatus {
            answered.add(count, [("status", "\(status)")])
        }
        var durations = MetricFamily(
            "imagebus_gateway_request_duration_seconds", .histogram,
            "From the end of a request's head to the end of its answer.")
        durations.add(requests.durations)
        return [
            answered,
            counter(
                "not_modified_total", requests.notModified,
                "Answers 304, which are among the requests, too."),
            counter(
                "abandoned_total", requests.abandoned,
                "Requests whose peer left before their answer was there."),
            counter("sent_bytes_total", requests.bytes, "Bytes of bodies that were sent."),
            gauge("in_flight", inFlight, "Requests whose answers were not sent to the end."),
            gauge("connections", connections, "Connections that are open."),
            counter(
                "refused_connections_total", refusedConnections,
                "Connections that were closed at the limit of their address."),
            gauge("unread_bytes", unread.bytes, "Bytes of answers that peers have not read."),
            refusedAnswers,
            counter(
                "slow_readers_total", slowReaders,
                "Connections that were closed since their peers read too slowly."),
            durations,
        ]
    }

    private var refusedAnswers: MetricFamily {
        var family = MetricFamily(
            "imagebus_gateway_refused_answers_total", .counter,
            "Answers that were refused since too much was not read, by one client or by all.")
        family.add(unread.refusedOfVisitors, [("limit", "client")])
        family.add(unread.refusedOfAll, [("limit", "all")])
        return family
    }

    private func counter(_ name: String, _ value: UInt64, _ help: String) -> MetricFamily {
        var family = MetricFamily("imagebus_gateway_\(name)", .counter, help)
        family.add(value)
        return family
    }

    private func gauge(_ name: String, _ value: Int, _ help: String) -> MetricFamily {
        var family = MetricFamily("imagebus_gateway_\(name)", .gauge, help)
        family.add(UInt64(clamping: value))
        return family
    }
}
