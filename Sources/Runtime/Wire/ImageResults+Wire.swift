import CMessages
import ImageModel
import Messages

extension DecodedImage: WireMessage {
    typealias Form = Imagebus__V1__DecodedImage
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__decoded_image__init }
    static var blank: Self { Self(info: .blank, frames: []) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.part(&info, &wire.pointee.info, "DecodedImage.info")
        try map.list(
            &frames, &wire.pointee.n_frames, &wire.pointee.frames, "DecodedImage.frames",
            limit: MessageLimits.blocksPerOutcomeMax)
        try map.maybe(&facts, &wire.pointee.facts, "DecodedImage.facts")
        try map.maybe(&file, &wire.pointee.file, "DecodedImage.file")
        map.flag(&isDamaged, &wire.pointee.is_damaged, "DecodedImage.is_damaged")
    }
}

extension DecodedImage.Frame: WireMessage {
    typealias Form = Imagebus__V1__Frame
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__frame__init }
    static var blank: Self { Self(reference: .blank, layout: .blank) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.part(&reference, &wire.pointee.reference, "Frame.reference")
        try map.part(&layout, &wire.pointee.layout, "Frame.layout")
        try layout.check(in: reference, "Frame.layout")
    }
}

extension EncodedImage: WireMessage {
    typealias Form = Imagebus__V1__EncodedImage
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__encoded_image__init }
    static var blank: Self { Self(reference: .blank, info: .blank) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.part(&reference, &wire.pointee.reference, "EncodedImage.reference")
        try map.part(&info, &wire.pointee.info, "EncodedImage.info")
        try map.part(
            &account, unless: account == TransformAccount(), &wire.pointee.account,
            "EncodedImage.account")
    }
}
