import CMessages
import ImageModel

extension ImageInfo: WireMessage {
    static var begin: (CPart<Imagebus__V1__ImageInfo>?) -> Void { imagebus__v1__image_info__init }
    static var blank: Self { Self(format: .undefined, size: .blank) }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__ImageInfo>
    ) throws(WireError) {
        try map.word(&value.format, &wire.pointee.format, "ImageInfo.format")
        try map.number(&value.size.width, &wire.pointee.width, "ImageInfo.width")
        try map.number(&value.size.height, &wire.pointee.height, "ImageInfo.height")
        try map.counted(&value.pages, &wire.pointee.pages, "ImageInfo.pages")
        map.flag(&value.hasAlpha, &wire.pointee.has_alpha, "ImageInfo.has_alpha")
    }
}
