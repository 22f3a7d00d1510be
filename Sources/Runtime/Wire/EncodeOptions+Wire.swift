import CMessages
import ImageModel

extension EncodeOptions: WireMessage {
    typealias Form = Imagebus__V1__EncodeOptions
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__encode_options__init }
    static var blank: Self { Self() }

    /// Whether the values make sense is for admission.
    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.number(
            &quality, &wire.pointee.quality, if: &wire.pointee.maybe_quality_case, 1,
            "EncodeOptions.quality")
        var argb = background?.argb
        try map.number(
            &argb, &wire.pointee.background, if: &wire.pointee.maybe_background_case, 2,
            "EncodeOptions.background")
        background = argb.map { Colour(argb: $0) }
        try map.maybe(&maxPixelSize, &wire.pointee.max_pixel_size, "EncodeOptions.max_pixel_size")
        try map.number(
            &maxBytes, &wire.pointee.max_bytes, if: &wire.pointee.maybe_max_bytes_case, 4,
            "EncodeOptions.max_bytes")
        map.flag(
            &embedsThumbnail, &wire.pointee.embed_thumbnail, "EncodeOptions.embed_thumbnail")
    }
}
