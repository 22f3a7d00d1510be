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
        try map.maybe(&fetched, &wire.pointee.fetched, "Explanation.fetched")
        try map.maybe(&decoded, &wire.pointee.decoded, "Explanation.decoded")
        try map.maybe(&transformed, &wire.pointee.transformed, "Explanation.transformed")
    }
}

extension FetchAccount: WireMessage {
    typealias Form = Imagebus__V1__FetchAccount
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__fetch_account__init }
    static var blank: Self { Self() }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.finite(&name, &wire.pointee.name, "FetchAccount.name")
        try map.finite(&connect, &wire.pointee.connect, "FetchAccount.connect")
        try map.finite(&tls, &wire.pointee.tls, "FetchAccount.tls")
        try map.finite(&firstByte, &wire.pointee.first_byte, "FetchAccount.first_byte")
        try map.finite(&total, &wire.pointee.total, "FetchAccount.total")
        try map.number(&bytes, &wire.pointee.bytes, "FetchAccount.bytes")
        try map.text(
            &httpVersion, &wire.pointee.http_version, "FetchAccount.http_version",
            limit: RequestLimits.nameBytesMax)
        try map.text(
            &address, &wire.pointee.address, "FetchAccount.address",
            limit: RequestLimits.nameBytesMax)
        map.flag(&isReused, &wire.pointee.is_reused, "FetchAccount.is_reused")
        try map.number(&redirects, &wire.pointee.redirects, "FetchAccount.redirects")
        try map.number(&continuations, &wire.pointee.continuations, "FetchAccount.continuations")
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
        try map.number(
            &quality, &wire.pointee.quality, if: &wire.pointee.maybe_quality_case, 4,
            "TransformAccount.quality")
    }
}
