import ImageModel
import Messages
import SharedArena

/// An answer that may be given again while its voucher stands. An object, so that a look-up hands
/// it over without a copy of all that it says.
final class RememberedAnswer: Sendable {
    /// Where the bytes of an answer lie.
    struct Place: Sendable {
        let segment: MappedSegment
        let reference: BlockReference
    }

    private let request: ImageRequest
    let voucher: AnswerVoucher
    /// With its voucher, without its bytes.
    let response: ImageResponse
    let bytes: Place?

    init(
        _ request: ImageRequest, _ response: ImageResponse, _ voucher: AnswerVoucher,
        _ bytes: Place?
    ) {
        self.request = request
        self.voucher = voucher
        self.bytes = bytes
        var response = response
        (response.voucher, response.bytes) = (voucher, nil)
        self.response = response
    }

    /// Whether this is the answer to such a request.
    func answers(_ request: ImageRequest) -> Bool {
        // Those of one caller hardly ever differ in what does not count.
        self.request == request || RequestKey(self.request) == RequestKey(request)
    }
}
