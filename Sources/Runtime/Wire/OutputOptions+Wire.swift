import CMessages
import ImageModel

extension OutputOptions {
    /// An absent message is the default.
    init(_ wire: UnsafeMutablePointer<Imagebus__V1__Output>?, _ read: FieldReader)
        throws(WireError)
    {
        self.init()
        guard let part = wire?.pointee else { return }
        if part.maybe_format_case.rawValue != 0 {
            format = try read.known(part.format.rawValue, "Output.format")
        }
        if part.maybe_quality_case.rawValue != 0 {
            quality = try read.exactly(part.quality, "Output.quality")
        }
        lossless = part.lossless != 0
        if part.maybe_compression_case.rawValue != 0 {
            compression = try read.exactly(part.compression, "Output.compression")
        }
    }

    /// `nil` for the default.
    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__Output>?
    {
        guard !isDefault else { return nil }
        let wire = try write.make(imagebus__v1__output__init)
        if let format {
            wire.pointee.maybe_format_case = IMAGEBUS__V1__OUTPUT__MAYBE_FORMAT_FORMAT
            wire.pointee.format = .init(rawValue: .init(format.rawValue))
        }
        if let quality {
            wire.pointee.maybe_quality_case = IMAGEBUS__V1__OUTPUT__MAYBE_QUALITY_QUALITY
            wire.pointee.quality = Int64(quality)
        }
        wire.pointee.lossless = lossless ? 1 : 0
        if let compression {
            wire.pointee.maybe_compression_case =
                IMAGEBUS__V1__OUTPUT__MAYBE_COMPRESSION_COMPRESSION
            wire.pointee.compression = Int64(compression)
        }
        return wire
    }
}
