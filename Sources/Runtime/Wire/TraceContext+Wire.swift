import Messages

extension TraceContext: FormedText {
    static var bytesMax: Int { textBytes }
    static var readBytesMax: Int { MessageLimits.textBytesMax }

    /// What Trace Context does not permit begins no trace (W3C Trace Context §3.2.2.4).
    init?(reading text: String, _ field: String) { self.init(text: text) }
}

extension RequestID: FormedText {
    static var readBytesMax: Int { MessageLimits.textBytesMax }

    /// What is none names nothing.
    init?(reading text: String, _ field: String) { self.init(text: text) }
}
