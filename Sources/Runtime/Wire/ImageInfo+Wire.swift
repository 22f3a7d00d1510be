import CMessages
import ImageModel

extension ImageInfo: WireMessage {
    typealias Form = Imagebus__V1__ImageInfo
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__image_info__init }
    static var blank: Self { Self(format: .undefined, size: .blank) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.word(&format, &wire.pointee.format, "ImageInfo.format")
        try map.number(&size.width, &wire.pointee.width, "ImageInfo.width")
        try map.number(&size.height, &wire.pointee.height, "ImageInfo.height")
        try map.counted(&pages, &wire.pointee.pages, "ImageInfo.pages")
        map.flag(&hasAlpha, &wire.pointee.has_alpha, "ImageInfo.has_alpha")
        try map.number(
            &stillOf, within: 2...Int(UInt32.max), &wire.pointee.still_of,
            if: &wire.pointee.maybe_still_of_case, 6, "ImageInfo.still_of")
        try map.number(
            &bits, within: Self.bitsRange, unless: 8, &wire.pointee.bits,
            if: &wire.pointee.maybe_bits_case, 7, "ImageInfo.bits")
        map.flag(&isHDR, &wire.pointee.is_hdr, "ImageInfo.is_hdr")
    }
}
