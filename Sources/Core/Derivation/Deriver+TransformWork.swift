import Dispatching
import ImageModel
import Messages
import Tables

// The job that makes an image of pixels.
extension Deriver {
    /// What is made of pixels for a result; it may be refused for what it costs.
    func transformWork(
        of node: ResultNode.ID, _ frame: DecodedImage.Frame, _ info: ImageInfo,
        over overlays: [DecodeNode.Pixels]
    ) -> TransformWork {
        let key = results[node].name.key
        return TransformWork(
            frame, info, key.steps, over: overlays, key.output,
            limits.image.narrowed(by: key.decode.limits)
        ).accepting(atMost: limits.encodingCostMax)
    }
}
