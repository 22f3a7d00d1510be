import ImageModel
import Messages

extension TransformWork {
    /// Steps and encode of pixels, with what is laid over them.
    init(
        _ frame: DecodedImage.Frame, _ info: ImageInfo, _ steps: [TransformStep],
        over overlays: [DecodeNode.Pixels], _ output: OutputOptions, _ limits: ImageLimits
    ) {
        self.init(
            source: frame.reference, layout: frame.layout, sourceInfo: info,
            steps: steps.map(\.forJobs), output: output, limits: limits,
            overlays: overlays.map {
                OverlayInput(
                    source: $0.frame.reference, layout: $0.frame.layout, info: $0.info)
            })
    }
}
