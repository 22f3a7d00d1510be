/// Takes what a transfer receives. Called on the thread that drives the set.
///
/// It cannot throw, since libcurl is between: it keeps its error itself and answers false, which
/// ends the transfer with `CurlError.Code.refusedByReceiver`.
public protocol TransferSink: AnyObject {
    /// The head of the final response, not of interim answers or of redirects that are followed.
    func receive(_ head: ResponseHead) -> Bool

    /// The next bytes of the body; they are libcurl's and valid during the call only.
    func receive(_ bytes: RawSpan) -> Bool
}
