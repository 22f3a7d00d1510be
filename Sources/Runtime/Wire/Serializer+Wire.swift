import CMessages
import ImageModel
import Messages

extension Serializer: WireMessage {
    typealias Form = Imagebus__V1__Serializer
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__serializer__init }
    static var blank: Self { .asIs }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        if try map.unit(
            self == .asIs, { self = .asIs }, &wire.pointee.as_is, if: &wire.pointee.serializer_case,
            1, "Serializer.as_is")
        {
            return
        }
        if try map.part(
            { Transcoding(self) }, { self = .transcode($0.format, quality: $0.quality) },
            &wire.pointee.transcode,
            if: &wire.pointee.serializer_case, 2, "Serializer.transcode")
        {
            return
        }
        if try map.text(
            { if case .named(let name) = self { name } else { nil } }, { self = .named($0) },
            &wire.pointee.named,
            if: &wire.pointee.serializer_case, 3, "Serializer.named",
            limit: RequestLimits.nameBytesMax)
        {
            return
        }
        throw .field("Serializer.serializer", .missing)
    }
}

/// The case of a serializer that encodes an image anew.
struct Transcoding: WireMessage {
    var format: ImageFormat
    var quality: Int?

    typealias Form = Imagebus__V1__Transcode
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__transcode__init }
    static var blank: Self { Self(format: .undefined, quality: nil) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.word(&format, &wire.pointee.format, "Transcode.format")
        try map.number(
            &quality, &wire.pointee.quality, if: &wire.pointee.maybe_quality_case, 2,
            "Transcode.quality")
    }

    private init(format: ImageFormat, quality: Int?) {
        (self.format, self.quality) = (format, quality)
    }

    /// `nil` for another case.
    init?(_ serializer: Serializer) {
        guard case .transcode(let format, let quality) = serializer else { return nil }
        self.init(format: format, quality: quality)
    }
}
