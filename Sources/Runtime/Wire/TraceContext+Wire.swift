import CMessages
import Messages

extension FieldReader {
    /// A `traceparent`; `nil` for an empty text, and for what Trace Context does not permit, which
    /// begins no trace (W3C Trace Context §3.2.2.4).
    func trace(_ pointer: UnsafeMutablePointer<CChar>?, _ field: String) throws(WireError)
        -> TraceContext?
    {
        let text = try text(pointer, field, limit: MessageLimits.textBytesMax)
        return text.isEmpty ? nil : TraceContext(text: text)
    }
}

extension FieldWriter {
    /// A `traceparent`, or an empty text.
    func trace(_ trace: TraceContext?, _ field: String) throws(WireError)
        -> UnsafeMutablePointer<CChar>
    {
        try text(trace?.text ?? "", field, limit: TraceContext.textBytes)
    }
}
