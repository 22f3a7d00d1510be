import CMessages
import ImageModel
import Messages

extension PaintWork {
    init(_ wire: Imagebus__V1__Paint, _ read: FieldReader) throws(WireError) {
        self.init(
            colour: Colour(argb: wire.colour),
            size: try PixelSize(wire.size, "Paint.size", read),
            output: try OutputOptions(wire.output, read),
            limits: try ImageLimits(try read.required(wire.limits, "Paint.limits"), read))
        guard size.isPositive else { throw .field("Paint.size", .outOfRange) }
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__Paint>
    {
        guard size.isPositive else { throw .field("Paint.size", .outOfRange) }
        let wire = try write.make(imagebus__v1__paint__init)
        wire.pointee.colour = colour.argb
        wire.pointee.size = try size.wire(write)
        wire.pointee.output = try output.wire(write)
        wire.pointee.limits = try limits.wire(write)
        return wire
    }
}
