import CMessages
import ImageModel
import Messages

extension TransformWork {
    init(_ wire: Imagebus__V1__Transform, _ read: FieldReader) throws(WireError) {
        self.init(
            source: try BlockReference(try read.required(wire.source, "Transform.source"), read),
            layout: try PixelLayout(try read.required(wire.layout, "Transform.layout"), read),
            sourceInfo: try ImageInfo(
                try read.required(wire.source_info, "Transform.source_info"), read),
            steps: try TransformStep.list(wire.n_steps, wire.steps, "Transform.steps", read),
            output: try OutputOptions(wire.output, read),
            limits: try ImageLimits(try read.required(wire.limits, "Transform.limits"), read),
            overlays: try read.list(
                wire.n_overlays, wire.overlays, "Transform.overlays",
                limit: RequestLimits.overlaysMax
            ) { part throws(WireError) in try OverlayInput(part, read) })
        try layout.check(in: source, "Transform.layout")
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__Transform>
    {
        try layout.check(in: source, "Transform.layout")
        let wire = try write.make(imagebus__v1__transform__init)
        wire.pointee.source = try source.wire(write)
        wire.pointee.layout = try layout.wire(write)
        wire.pointee.source_info = try sourceInfo.wire(write)
        wire.pointee.n_steps = steps.count
        wire.pointee.steps = try TransformStep.wire(steps, "Transform.steps", write)
        wire.pointee.output = try output.wire(write)
        wire.pointee.limits = try limits.wire(write)
        wire.pointee.n_overlays = overlays.count
        wire.pointee.overlays = try write.list(
            overlays, "Transform.overlays", limit: RequestLimits.overlaysMax
        ) { overlay throws(WireError) in try overlay.wire(write) }
        return wire
    }
}
