import CMessages
import ImageModel
import Messages

extension DecodedImage {
    init(_ wire: Imagebus__V1__DecodedImage, _ read: FieldReader) throws(WireError) {
        self.init(
            info: try ImageInfo(try read.required(wire.info, "DecodedImage.info"), read),
            pixels: try wire.pixels.map { part throws(WireError) in
                try Pixels(part.pointee, read)
            })
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__DecodedImage>
    {
        let wire = try write.make(imagebus__v1__decoded_image__init)
        wire.pointee.info = try info.wire(write)
        if let pixels { wire.pointee.pixels = try pixels.wire(write) }
        return wire
    }
}

extension DecodedImage.Pixels {
    init(_ wire: Imagebus__V1__Pixels, _ read: FieldReader) throws(WireError) {
        self.init(
            reference: try BlockReference(
                try read.required(wire.reference, "Pixels.reference"), read),
            layout: try PixelLayout(try read.required(wire.layout, "Pixels.layout"), read))
        try layout.check(in: reference, "Pixels.layout")
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__Pixels>
    {
        try layout.check(in: reference, "Pixels.layout")
        let wire = try write.make(imagebus__v1__pixels__init)
        wire.pointee.reference = try reference.wire(write)
        wire.pointee.layout = try layout.wire(write)
        return wire
    }
}

extension EncodedImage {
    init(_ wire: Imagebus__V1__EncodedImage, _ read: FieldReader) throws(WireError) {
        self.init(
            reference: try BlockReference(
                try read.required(wire.reference, "EncodedImage.reference"), read),
            info: try ImageInfo(try read.required(wire.info, "EncodedImage.info"), read))
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__EncodedImage>
    {
        let wire = try write.make(imagebus__v1__encoded_image__init)
        wire.pointee.reference = try reference.wire(write)
        wire.pointee.info = try info.wire(write)
        return wire
    }
}
