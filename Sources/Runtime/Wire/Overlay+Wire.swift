import CMessages
import ImageModel
import Messages

extension Overlay {
    init(_ wire: Imagebus__V1__Overlay, _ read: FieldReader) throws(WireError) {
        self.init(
            url: try read.text(wire.url, "Overlay.url", limit: RequestLimits.urlBytesMax),
            x: try read.exactly(wire.x, "Overlay.x"), y: try read.exactly(wire.y, "Overlay.y"),
            opacity: try read.finite(wire.opacity, "Overlay.opacity"))
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__Overlay>
    {
        let wire = try write.make(imagebus__v1__overlay__init)
        wire.pointee.url = try write.text(url, "Overlay.url", limit: RequestLimits.urlBytesMax)
        wire.pointee.x = Int64(x)
        wire.pointee.y = Int64(y)
        wire.pointee.opacity = try write.finite(opacity, "Overlay.opacity")
        return wire
    }
}

extension OverlayInput {
    init(_ wire: Imagebus__V1__OverlayInput, _ read: FieldReader) throws(WireError) {
        self.init(
            source: try BlockReference(try read.required(wire.source, "OverlayInput.source"), read),
            layout: try PixelLayout(try read.required(wire.layout, "OverlayInput.layout"), read),
            info: try ImageInfo(try read.required(wire.info, "OverlayInput.info"), read))
        try layout.check(in: source, "OverlayInput.layout")
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__OverlayInput>
    {
        try layout.check(in: source, "OverlayInput.layout")
        let wire = try write.make(imagebus__v1__overlay_input__init)
        wire.pointee.source = try source.wire(write)
        wire.pointee.layout = try layout.wire(write)
        wire.pointee.info = try info.wire(write)
        return wire
    }
}
