/// What the logs of all processes say of a request. It travels with its load and with every job
/// that is begun for it; work that several requests share has that of the first one.
public struct LogContext: Hashable, Sendable {
    /// The trace of the caller.
    public var trace: TraceContext?
    /// The name of the HTTP request.
    public var requestID: RequestID?
    /// Whether it only checks that the stack works: such a request has no line in any log.
    public var isProbe: Bool

    /// Nothing, unless it is given.
    public init(trace: TraceContext? = nil, requestID: RequestID? = nil, isProbe: Bool = false) {
        (self.trace, self.requestID, self.isProbe) = (trace, requestID, isProbe)
    }

    /// Whether it says nothing.
    public var isEmpty: Bool { trace == nil && requestID == nil && !isProbe }

    /// Names and values of the fields of a line that say it.
    public var fields: [(name: String, text: String)] {
        var fields: [(name: String, text: String)] = []
        if let requestID { fields.append(("requestId", requestID.text)) }
        if let trace { fields.append(("trace", trace.trace.hex)) }
        return fields
    }

    /// Whether each process logs its part of the work at level info.
    public var isSampled: Bool { !isProbe && trace?.isSampled == true }
}
