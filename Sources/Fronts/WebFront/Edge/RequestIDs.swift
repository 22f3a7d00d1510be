package import Messages
package import MicroHTTPD

/// The names by which a request is found in logs, here and in the stack.
package struct RequestIDs: Hashable, Sendable {
    /// As a trusted proxy wrote it in `X-Request-Id`, or made here.
    package let request: RequestID
    /// As a trusted proxy wrote it in `traceparent` (W3C Trace Context), or made here; one that was
    /// made is not sampled.
    package let trace: TraceContext

    package init(_ request: RequestID, _ trace: TraceContext) {
        (self.request, self.trace) = (request, trace)
    }

    /// Names of the fields that have them, in requests and in answers.
    package static let (requestField, traceField) = ("X-Request-Id", "traceparent")
    package static let fieldNames = [requestField, traceField]

    /// What the load of the request says in logs.
    package var logContext: LogContext { LogContext(trace: trace, requestID: request) }

    /// The fields of an answer.
    package var fields: [AnswerHead.Field] {
        [
            AnswerHead.Field(Self.requestField, request.text),
            AnswerHead.Field(Self.traceField, trace.text),
        ]
    }
}

extension EdgeSettings {
    /// The names of a request: those that a trusted proxy gives it, and others where it gives none
    /// or none that can be used.
    package func ids(
        of peer: PeerAddress, _ field: (String) -> String?, orMadeOf random: inout IDSource
    ) -> RequestIDs {
        let isTrusted = trusted.contains(peer)
        let request =
            isTrusted ? field(RequestIDs.requestField).flatMap { RequestID(text: $0) } : nil
        let trace =
            isTrusted ? field(RequestIDs.traceField).flatMap { TraceContext(text: $0) } : nil
        return RequestIDs(request ?? random.request(), trace ?? random.trace())
    }
}
