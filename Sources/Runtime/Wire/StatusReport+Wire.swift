import CMessages
import Messages

extension StatusReport: WireMessage {
    static var begin: (CPart<Imagebus__V1__StatusReport>?) -> Void {
        imagebus__v1__status_report__init
    }
    static var blank: Self { Self() }

    /// Rows of one kind in one report.
    static let rowsMax = 512

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__StatusReport>
    ) throws(WireError) {
        try map.list(
            &value.processes, &wire.pointee.n_processes, &wire.pointee.processes,
            "StatusReport.processes", limit: rowsMax)
        try map.list(
            &value.sockets, &wire.pointee.n_sockets, &wire.pointee.sockets, "StatusReport.sockets",
            limit: rowsMax)
        try map.list(
            &value.counters, &wire.pointee.n_counters, &wire.pointee.counters,
            "StatusReport.counters", limit: rowsMax)
        try map.number(
            &value.uptimeMilliseconds, &wire.pointee.uptime_milliseconds,
            "StatusReport.uptime_milliseconds")
        try map.list(
            &value.cancellations, &wire.pointee.n_cancellations, &wire.pointee.cancellations,
            "StatusReport.cancellations", limit: rowsMax)
        try map.list(
            &value.stages, &wire.pointee.n_stages, &wire.pointee.stages, "StatusReport.stages",
            limit: rowsMax)
        try map.part(
            &value.requests, unless: false, &wire.pointee.requests, "StatusReport.requests")
        try map.list(
            &value.caches, &wire.pointee.n_caches, &wire.pointee.caches, "StatusReport.caches",
            limit: rowsMax)
        try map.list(
            &value.pools, &wire.pointee.n_pools, &wire.pointee.pools, "StatusReport.pools",
            limit: rowsMax)
    }
}
