import CMessages
import ImageModel
import Messages

extension Fallback {
    init(_ wire: Imagebus__V1__Fallback, _ read: FieldReader) throws(WireError) {
        switch wire.fallback_case {
        case IMAGEBUS__V1__FALLBACK__FALLBACK_NONE: self = .none
        case IMAGEBUS__V1__FALLBACK__FALLBACK_URL:
            self = .url(try read.text(wire.url, "Fallback.url", limit: RequestLimits.urlBytesMax))
        case IMAGEBUS__V1__FALLBACK__FALLBACK_COLOUR: self = .colour(Colour(argb: wire.colour))
        default: throw .field("Fallback.fallback", .missing)
        }
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__Fallback>
    {
        let wire = try write.make(imagebus__v1__fallback__init)
        switch self {
        case .none:
            wire.pointee.fallback_case = IMAGEBUS__V1__FALLBACK__FALLBACK_NONE
            wire.pointee.none = try write.make(imagebus__v1__unit__init)
        case .url(let url):
            wire.pointee.fallback_case = IMAGEBUS__V1__FALLBACK__FALLBACK_URL
            wire.pointee.url = try write.text(
                url, "Fallback.url", limit: RequestLimits.urlBytesMax)
        case .colour(let colour):
            wire.pointee.fallback_case = IMAGEBUS__V1__FALLBACK__FALLBACK_COLOUR
            wire.pointee.colour = colour.argb
        }
        return wire
    }
}
