/// The results of all loads.
struct Tally: Sendable {
    /// Replies, failures included.
    var requests = 0
    /// New URLs that were answered.
    var new = 0
    /// New URLs that were not stored on disk, so that they may be requested again.
    var unstored = 0
    /// Failures by the name of their code.
    var failures: [String: Int] = [:]
    /// From the first load to the last reply.
    var seconds = 0.0
    /// The maximum latency of a load.
    var slowestMilliseconds = 0

    /// The tally as one JSON object.
    var json: String {
        let codes = failures.sorted { $0.key < $1.key }.map { "\"\($0.key)\": \($0.value)" }
        let tenths = Int(seconds * 10)
        return "{\"requests\": \(requests), \"new\": \(new), \"unstored\": \(unstored), "
            + "\"seconds\": \(tenths / 10).\(tenths % 10), "
            + "\"slowest_ms\": \(slowestMilliseconds), "
            + "\"failures\": {\(codes.joined(separator: ", "))}}"
    }
}
