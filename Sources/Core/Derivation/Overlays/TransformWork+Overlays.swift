import ImageModel
import Messages

extension TransformWork {
    /// Steps and encode of pixels, with what is laid over them.
    init(
        _ pixels: DecodedImage.Pixels, _ info: ImageInfo, _ steps: [TransformStep],
        over overlays: [DecodeNode.Pixels], _ output: OutputOptions, _ limits: ImageLimits
    ) {
        self.init(
            source: pixels.reference, layout: pixels.layout, sourceInfo: info,
            steps: steps.map(\.forJobs), output: output, limits: limits,
            overlays: overlays.map {
                OverlayInput(
                    source: $0.pixels.reference, layout: $0.pixels.layout, info: $0.info)
            })
    }
}
