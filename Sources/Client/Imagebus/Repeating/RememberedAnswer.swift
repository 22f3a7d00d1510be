import ImageModel
import Messages
import SharedArena

/// An answer that may be given again while its voucher stands. An object, so that a look-up hands
/// it over without a copy of all that it says.
final class RememberedAnswer: Sendable {
    let key: RequestKey
    let voucher: AnswerVoucher
    /// With its voucher, without its bytes.
    private let response: ImageResponse
    /// Where the bytes lie; `nil` for facts.
    let segment: MappedSegment?
    private let reference: BlockReference?

    init(
        _ key: RequestKey, _ response: ImageResponse, _ voucher: AnswerVoucher,
        _ reference: BlockReference?, in segment: MappedSegment?
    ) {
        (self.key, self.voucher) = (key, voucher)
        (self.reference, self.segment) = (reference, segment)
        var response = response
        (response.voucher, response.bytes) = (voucher, nil)
        self.response = response
    }

    /// The answer with its bytes; `nil` where their block was used again before they were copied.
    func response(_ copies: CopyPool) -> ImageResponse? {
        guard let segment, let reference else { return response }
        let buffer = copies.take(Int(reference.length))
        guard segment.copy(reference, into: buffer.target) else { return nil }
        var response = response
        response.bytes = ImageBytes(buffer)
        return response
    }

    /// Whether this is the answer to requests of that key.
    func answers(_ key: RequestKey) -> Bool {
        self.key.digest == key.digest && self.key == key
    }
}
