import Dispatching
import ImageModel
import Messages
import Tables

// The job that makes an image of pixels.
extension Deriver {
    /// What is made of pixels for a result, or a link of that; it may be refused for what it costs.
    func transformWork(
        of node: ResultNode.ID, _ frame: DecodedImage.Frame, _ info: ImageInfo,
        over overlays: [DecodeNode.Pixels], linkOf chain: StepChain? = nil
    ) -> TransformWork {
        let key = results[node].name.key
        let whole = TransformWork(
            frame, info, key.steps, over: overlays, key.output,
            limits.image.narrowed(by: key.decode.limits))
        // The steps of a link are those that make its size, by which a format is accepted.
        return (chain?.link(of: whole) ?? whole).accepting(atMost: limits.encodingCostMax)
    }
}
