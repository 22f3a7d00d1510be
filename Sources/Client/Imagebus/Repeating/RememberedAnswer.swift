import ImageModel
import Messages
import SharedArena

/// An answer that may be given again while its voucher stands. An object, so that a look-up hands
/// it over without a copy of all that it says.
final class RememberedAnswer: Sendable {
    let request: ImageRequest
    let voucher: AnswerVoucher
    private let account: ImageAccount
    /// Where the bytes lie; `nil` for facts.
    let segment: MappedSegment?
    private let reference: BlockReference?

    init(
        to request: ImageRequest, _ account: ImageAccount, _ voucher: AnswerVoucher,
        _ reference: BlockReference?, in segment: MappedSegment?
    ) {
        (self.request, self.account, self.voucher) = (request, account, voucher)
        (self.reference, self.segment) = (reference, segment)
    }

    /// Gives the answer once more, with its bytes, and counts that as a load. `nil` where it stands
    /// no more, where its block was used again before it was copied, and after the end of the
    /// client.
    func repeated(_ copies: CopyPool) -> ImageResponse? {
        let voucher = voucher
        // Before the bytes are looked at: here the load takes effect.
        guard voucher.stands else { return nil }
        var bytes: ImageBytes?
        if let segment, let reference {
            bytes = copies.copy(reference, in: segment)
            guard bytes != nil else { return nil }
        }
        guard voucher.count() else { return nil }
        var response = ImageResponse(account, bytes)
        response.voucher = voucher
        return response
    }

    /// Whether it is the answer to that request, too.
    func answers(_ other: ImageRequest) -> Bool {
        request.digest == other.digest && RequestKey.isOne(of: request, other)
    }
}
