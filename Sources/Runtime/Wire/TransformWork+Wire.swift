import CMessages
import ImageModel
import Messages

extension TransformWork: WireMessage {
    static var begin: (CPart<Imagebus__V1__Transform>?) -> Void { imagebus__v1__transform__init }
    static var blank: Self {
        Self(
            source: .blank, layout: .blank, sourceInfo: .blank, steps: [], output: .blank,
            limits: .blank, overlays: [])
    }

    /// One more than a request has: a job counts the thumbnail as a step.
    private static let stepsMax = RequestLimits.stepsMax + 1

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Transform>
    ) throws(WireError) {
        try map.part(&value.source, &wire.pointee.source, "Transform.source")
        try map.part(&value.layout, &wire.pointee.layout, "Transform.layout")
        try map.part(&value.sourceInfo, &wire.pointee.source_info, "Transform.source_info")
        try map.list(
            &value.steps, &wire.pointee.n_steps, &wire.pointee.steps, "Transform.steps",
            limit: stepsMax)
        try map.part(
            &value.output, unless: value.output.isDefault, &wire.pointee.output, "Transform.output")
        try map.part(&value.limits, &wire.pointee.limits, "Transform.limits")
        try map.list(
            &value.overlays, &wire.pointee.n_overlays, &wire.pointee.overlays, "Transform.overlays",
            limit: RequestLimits.overlaysMax)
        try value.layout.check(in: value.source, "Transform.layout")
    }
}
