import CMessages
import ImageModel

extension DecodeNeed {
    init(_ wire: Imagebus__V1__Need, _ read: FieldReader) throws(WireError) {
        switch wire.need_case {
        case IMAGEBUS__V1__NEED__NEED_HEADER: self = .header
        case IMAGEBUS__V1__NEED__NEED_FULL: self = .full
        case IMAGEBUS__V1__NEED__NEED_COVER:
            let part = try read.required(wire.cover, "Need.cover")
            self = .cover(
                try PixelSize(part.box, "Resize.box", read),
                try read.known(part.mode.rawValue, "Resize.mode"))
        default: throw .field("Need.need", .missing)
        }
    }

    func wire(_ write: FieldWriter) throws(WireError) -> UnsafeMutablePointer<Imagebus__V1__Need> {
        let wire = try write.make(imagebus__v1__need__init)
        switch self {
        case .header:
            wire.pointee.need_case = IMAGEBUS__V1__NEED__NEED_HEADER
            wire.pointee.header = try write.make(imagebus__v1__unit__init)
        case .full:
            wire.pointee.need_case = IMAGEBUS__V1__NEED__NEED_FULL
            wire.pointee.full = try write.make(imagebus__v1__unit__init)
        case .cover(let box, let mode):
            wire.pointee.need_case = IMAGEBUS__V1__NEED__NEED_COVER
            wire.pointee.cover = try TransformStep.resize(box, mode, write)
        }
        return wire
    }
}
