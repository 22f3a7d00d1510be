import CMessages
import ImageModel
import Messages

extension DecodedImage: WireMessage {
    typealias Form = Imagebus__V1__DecodedImage
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__decoded_image__init }
    static var blank: Self { Self(info: .blank, pixels: nil) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.part(&info, &wire.pointee.info, "DecodedImage.info")
        try map.maybe(&pixels, &wire.pointee.pixels, "DecodedImage.pixels")
    }
}

extension DecodedImage.Pixels: WireMessage {
    typealias Form = Imagebus__V1__Pixels
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__pixels__init }
    static var blank: Self { Self(reference: .blank, layout: .blank) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.part(&reference, &wire.pointee.reference, "Pixels.reference")
        try map.part(&layout, &wire.pointee.layout, "Pixels.layout")
        try layout.check(in: reference, "Pixels.layout")
    }
}

extension EncodedImage: WireMessage {
    typealias Form = Imagebus__V1__EncodedImage
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__encoded_image__init }
    static var blank: Self { Self(reference: .blank, info: .blank) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.part(&reference, &wire.pointee.reference, "EncodedImage.reference")
        try map.part(&info, &wire.pointee.info, "EncodedImage.info")
    }
}
