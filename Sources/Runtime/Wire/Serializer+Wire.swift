import CMessages
import ImageModel
import Messages

private let nameMax = RequestLimits.nameBytesMax

extension Serializer {
    init(_ wire: Imagebus__V1__Serializer, _ read: FieldReader) throws(WireError) {
        switch wire.serializer_case {
        case IMAGEBUS__V1__SERIALIZER__SERIALIZER_AS_IS: self = .asIs
        case IMAGEBUS__V1__SERIALIZER__SERIALIZER_TRANSCODE:
            let part = try read.required(wire.transcode, "Serializer.transcode")
            self = .transcode(
                try read.known(part.format.rawValue, "Transcode.format"),
                quality: part.maybe_quality_case.rawValue == 0
                    ? nil : try read.exactly(part.quality, "Transcode.quality"))
        case IMAGEBUS__V1__SERIALIZER__SERIALIZER_NAMED:
            self = .named(try read.text(wire.named, "Serializer.named", limit: nameMax))
        default: throw .field("Serializer.serializer", .missing)
        }
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__Serializer>
    {
        let wire = try write.make(imagebus__v1__serializer__init)
        switch self {
        case .asIs:
            wire.pointee.serializer_case = IMAGEBUS__V1__SERIALIZER__SERIALIZER_AS_IS
            wire.pointee.as_is = try write.make(imagebus__v1__unit__init)
        case .transcode(let format, let quality):
            let part = try write.make(imagebus__v1__transcode__init)
            part.pointee.format = .init(rawValue: .init(format.rawValue))
            if let quality {
                part.pointee.maybe_quality_case = IMAGEBUS__V1__TRANSCODE__MAYBE_QUALITY_QUALITY
                part.pointee.quality = Int64(quality)
            }
            wire.pointee.serializer_case = IMAGEBUS__V1__SERIALIZER__SERIALIZER_TRANSCODE
            wire.pointee.transcode = part
        case .named(let name):
            wire.pointee.serializer_case = IMAGEBUS__V1__SERIALIZER__SERIALIZER_NAMED
            wire.pointee.named = try write.text(name, "Serializer.named", limit: nameMax)
        }
        return wire
    }
}
