import CMessages
import ImageModel
import Messages

extension TransformWork: WireMessage {
    typealias Form = Imagebus__V1__Transform
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__transform__init }
    static var blank: Self {
        Self(
            source: .blank, layout: .blank, sourceInfo: .blank, steps: [], output: .blank,
            limits: .blank, overlays: [])
    }

    /// One more than a request has: a job counts the thumbnail as a step.
    private static let stepsMax = RequestLimits.stepsMax + 1

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.part(&source, &wire.pointee.source, "Transform.source")
        try map.part(&layout, &wire.pointee.layout, "Transform.layout")
        try map.part(&sourceInfo, &wire.pointee.source_info, "Transform.source_info")
        try map.list(
            &steps, &wire.pointee.n_steps, &wire.pointee.steps, "Transform.steps",
            limit: Self.stepsMax)
        try map.part(&output, unless: output.isDefault, &wire.pointee.output, "Transform.output")
        try map.part(&limits, &wire.pointee.limits, "Transform.limits")
        try map.list(
            &overlays, &wire.pointee.n_overlays, &wire.pointee.overlays, "Transform.overlays",
            limit: RequestLimits.overlaysMax)
        try layout.check(in: source, "Transform.layout")
    }
}
