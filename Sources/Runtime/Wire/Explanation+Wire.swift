import CMessages
import ImageModel
import Messages

extension Explanation: WireMessage {
    typealias Form = Imagebus__V1__Explanation
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__explanation__init }
    static var blank: Self { Self() }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.texts(
            &plan, &wire.pointee.n_plan, &wire.pointee.plan, "Explanation.plan",
            countMax: Self.stagesMax, limit: RequestLimits.nameBytesMax)
        try map.texts(
            &steps, &wire.pointee.n_steps, &wire.pointee.steps, "Explanation.steps",
            countMax: Self.stepsMax, limit: MessageLimits.textBytesMax)
        try map.details(
            &settings, ParameterLimits.self, &wire.pointee.n_settings, &wire.pointee.settings,
            "Explanation.settings", limit: Self.settingsMax)
        try map.maybe(&decoded, &wire.pointee.decoded, "Explanation.decoded")
        try map.maybe(&transformed, &wire.pointee.transformed, "Explanation.transformed")
    }
}

extension DecodeAccount: WireMessage {
    typealias Form = Imagebus__V1__DecodeAccount
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__decode_account__init }
    static var blank: Self {
        Self(format: .jpeg, size: .blank, pixels: .blank, scale: 0, isPlanar: false)
    }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.word(&format, &wire.pointee.format, "DecodeAccount.format")
        try map.part(&size, &wire.pointee.size, "DecodeAccount.size")
        try map.part(&pixels, &wire.pointee.pixels, "DecodeAccount.pixels")
        try map.finite(&scale, &wire.pointee.scale, "DecodeAccount.scale")
        map.flag(&isPlanar, &wire.pointee.is_planar, "DecodeAccount.is_planar")
    }
}

extension TransformAccount: WireMessage {
    typealias Form = Imagebus__V1__TransformAccount
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__transform_account__init }
    static var blank: Self { Self() }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        map.flag(&isPlanar, &wire.pointee.is_planar, "TransformAccount.is_planar")
        try map.number(
            &foldedSteps, &wire.pointee.folded_steps, "TransformAccount.folded_steps")
        try map.number(&attempts, &wire.pointee.attempts, "TransformAccount.attempts")
    }
}
