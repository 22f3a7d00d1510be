/// What became of all loads.
struct Tally: Sendable {
    /// Replies, failures included.
    var requests = 0
    /// New URLs whose reply has come.
    var new = 0
    /// New URLs that the disk did not take, so that they may be asked for again.
    var unstored = 0
    /// Failures by the name of their code.
    var failures: [String: Int] = [:]
    /// From the first load to the last reply.
    var seconds = 0.0
    /// The longest time that a load took.
    var slowestMilliseconds = 0

    /// One object.
    var json: String {
        let codes = failures.sorted { $0.key < $1.key }.map { "\"\($0.key)\": \($0.value)" }
        let tenths = Int(seconds * 10)
        return "{\"requests\": \(requests), \"new\": \(new), \"unstored\": \(unstored), "
            + "\"seconds\": \(tenths / 10).\(tenths % 10), "
            + "\"slowest_ms\": \(slowestMilliseconds), "
            + "\"failures\": {\(codes.joined(separator: ", "))}}"
    }
}
