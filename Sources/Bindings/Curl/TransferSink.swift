/// Takes what a transfer receives. Called on the thread that drives the set.
///
/// It cannot throw, since libcurl is between: it keeps its error itself and refuses, which ends the
/// transfer with `CurlError.Code.refusedByReceiver`.
public protocol TransferSink: AnyObject {
    /// The head of the final response, not of interim answers or of redirects that are followed.
    /// False refuses it.
    func receive(_ head: ResponseHead) -> Bool

    /// The next bytes of the body; they are libcurl's and valid during the call only. Transfer
    /// codings were undone, content codings were not.
    func receive(_ bytes: RawSpan) -> Reception
}

/// What a sink did with bytes of a body.
public enum Reception: Hashable, Sendable {
    /// It took all of them.
    case taken
    /// It took none of them now. The transfer waits until `TransferSet.resume`, which brings the
    /// same bytes again.
    case postponed
    /// It wants nothing more of this transfer.
    case refused
}
