import ImageModel
import Messages

/// A reply that brings an image, as the line hands it on: what it says, and the account that its
/// response has. One that is told again is made once (`ReplyMemo`).
final class DeliveredAnswer: Sendable {
    let image: DeliveredImage
    let account: ImageAccount

    init(_ image: DeliveredImage, _ timings: StageTimings) {
        self.image = image
        account = ImageAccount(of: image, timings)
    }
}
