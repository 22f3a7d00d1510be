import CMessages
import ImageModel

extension ImageInfo {
    init(_ wire: Imagebus__V1__ImageInfo, _ read: FieldReader) throws(WireError) {
        self.init(
            format: try read.known(wire.format.rawValue, "ImageInfo.format"),
            size: PixelSize(
                width: try read.exactly(wire.width, "ImageInfo.width"),
                height: try read.exactly(wire.height, "ImageInfo.height")),
            pages: try read.exactly(
                try read.counted(wire.pages, "ImageInfo.pages"), "ImageInfo.pages"),
            hasAlpha: wire.has_alpha != 0)
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__ImageInfo>
    {
        let wire = try write.make(imagebus__v1__image_info__init)
        wire.pointee.format = .init(rawValue: .init(format.rawValue))
        wire.pointee.width = try write.exactly(size.width, "ImageInfo.width")
        wire.pointee.height = try write.exactly(size.height, "ImageInfo.height")
        wire.pointee.pages = try write.exactly(
            try write.counted(pages, "ImageInfo.pages"), "ImageInfo.pages")
        wire.pointee.has_alpha = hasAlpha ? 1 : 0
        return wire
    }
}
