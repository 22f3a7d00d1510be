import CMessages
import ImageModel

extension OutputOptions: WireMessage {
    static var begin: (CPart<Imagebus__V1__Output>?) -> Void { imagebus__v1__output__init }
    static var blank: Self { Self() }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Output>
    ) throws(WireError) {
        try map.word(
            &value.format, &wire.pointee.format, if: &wire.pointee.maybe_format_case, 1,
            "Output.format")
        try map.number(
            &value.quality, &wire.pointee.quality, if: &wire.pointee.maybe_quality_case, 2,
            "Output.quality")
        map.flag(&value.lossless, &wire.pointee.lossless, "Output.lossless")
        try map.number(
            &value.compression, &wire.pointee.compression, if: &wire.pointee.maybe_compression_case,
            4, "Output.compression")
    }
}
