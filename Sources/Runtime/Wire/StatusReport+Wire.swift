import CMessages
import Messages

extension StatusReport: WireMessage {
    typealias Form = Imagebus__V1__StatusReport
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__status_report__init }
    static var blank: Self { Self() }

    /// Rows of one kind in one report.
    static let rowsMax = 512
    /// Bytes of a host with its port.
    private static let hostBytesMax = 1_024

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.list(
            &processes, &wire.pointee.n_processes, &wire.pointee.processes,
            "StatusReport.processes", limit: Self.rowsMax)
        try map.list(
            &sockets, &wire.pointee.n_sockets, &wire.pointee.sockets, "StatusReport.sockets",
            limit: Self.rowsMax)
        try map.list(
            &counters, &wire.pointee.n_counters, &wire.pointee.counters, "StatusReport.counters",
            limit: Self.rowsMax)
        try map.number(
            &uptimeMilliseconds, &wire.pointee.uptime_milliseconds,
            "StatusReport.uptime_milliseconds")
        try map.list(
            &cancellations, &wire.pointee.n_cancellations, &wire.pointee.cancellations,
            "StatusReport.cancellations", limit: Self.rowsMax)
        try map.list(
            &stages, &wire.pointee.n_stages, &wire.pointee.stages, "StatusReport.stages",
            limit: Self.rowsMax)
        try map.part(&requests, unless: false, &wire.pointee.requests, "StatusReport.requests")
        try map.list(
            &caches, &wire.pointee.n_caches, &wire.pointee.caches, "StatusReport.caches",
            limit: Self.rowsMax)
        try map.list(
            &pools, &wire.pointee.n_pools, &wire.pointee.pools, "StatusReport.pools",
            limit: Self.rowsMax)
        try map.list(
            &transfers, &wire.pointee.n_transfers, &wire.pointee.transfers,
            "StatusReport.transfers", limit: Self.rowsMax)
        try map.list(
            &fronts, &wire.pointee.n_fronts, &wire.pointee.fronts, "StatusReport.fronts",
            limit: Self.rowsMax)
        try map.texts(
            &unverifiedHosts, &wire.pointee.n_unverified_hosts, &wire.pointee.unverified_hosts,
            "StatusReport.unverified_hosts", countMax: Self.rowsMax, limit: Self.hostBytesMax)
    }
}
