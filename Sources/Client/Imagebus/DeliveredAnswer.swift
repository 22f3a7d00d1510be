import ImageModel
import Messages

/// A reply that brings an image, as the line hands it on: where the bytes are, and the account that
/// its response has. One that is told again is made once (`ReplyMemo`). It has no more of the reply
/// than that: what it says of an image is a kilobyte, and each reading would copy it.
final class DeliveredAnswer: Sendable {
    let account: ImageAccount
    /// Where the bytes lie in `results/`; `nil` where they come in pieces, and for facts.
    let reference: BlockReference?
    /// Whether they are copied, however many there are.
    let mustCopy: Bool
    /// How many came in pieces; `nil`: none.
    let pieceBytes: UInt64?
    let voucher: Voucher?

    init(_ image: DeliveredImage, _ timings: StageTimings) {
        account = ImageAccount(of: image, timings)
        (reference, mustCopy) = (image.reference, image.mustCopy)
        (pieceBytes, voucher) = (image.pieceBytes, image.voucher)
    }
}
