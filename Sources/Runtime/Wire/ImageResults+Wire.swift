import CMessages
import ImageModel
import Messages

extension DecodedImage: WireMessage {
    static var begin: (CPart<Imagebus__V1__DecodedImage>?) -> Void {
        imagebus__v1__decoded_image__init
    }
    static var blank: Self { Self(info: .blank, pixels: nil) }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__DecodedImage>
    ) throws(WireError) {
        try map.part(&value.info, &wire.pointee.info, "DecodedImage.info")
        try map.maybe(&value.pixels, &wire.pointee.pixels, "DecodedImage.pixels")
    }
}

extension DecodedImage.Pixels: WireMessage {
    static var begin: (CPart<Imagebus__V1__Pixels>?) -> Void { imagebus__v1__pixels__init }
    static var blank: Self { Self(reference: .blank, layout: .blank) }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Pixels>
    ) throws(WireError) {
        try map.part(&value.reference, &wire.pointee.reference, "Pixels.reference")
        try map.part(&value.layout, &wire.pointee.layout, "Pixels.layout")
        try value.layout.check(in: value.reference, "Pixels.layout")
    }
}

extension EncodedImage: WireMessage {
    static var begin: (CPart<Imagebus__V1__EncodedImage>?) -> Void {
        imagebus__v1__encoded_image__init
    }
    static var blank: Self { Self(reference: .blank, info: .blank) }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__EncodedImage>
    ) throws(WireError) {
        try map.part(&value.reference, &wire.pointee.reference, "EncodedImage.reference")
        try map.part(&value.info, &wire.pointee.info, "EncodedImage.info")
    }
}
