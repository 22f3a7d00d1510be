import ImageModel
import Vips

/// The formats that one process decodes. No process decodes those of two families: what a drawing
/// does to its decoder is no matter for a photograph.
struct FormatDecoders {
    let family: FormatFamily
    let all: [any FormatDecoder]

    static let raster = FormatDecoders(
        family: .raster,
        all: [
            JPEGDecoder(), PNGDecoder(), GIFDecoder(), WebPDecoder(), TIFFDecoder(),
            HEIFDecoder(format: .heic), HEIFDecoder(format: .heif), AVIFDecoder(),
            JXLDecoder(), BMPDecoder(), ICODecoder(),
        ])

    static let vector = FormatDecoders(family: .vector, all: [SVGDecoder(), PDFDecoder()])

    static func of(_ family: FormatFamily) -> FormatDecoders {
        switch family {
        case .raster: raster
        case .vector: vector
        }
    }

    /// What libvips may open.
    var loaders: [VipsLoader] { all.flatMap(\.loaders) }

    /// The decoder of what the first bytes say, never of what a server said.
    func decoder(of bytes: UnsafeRawBufferPointer) throws(ImageError) -> any FormatDecoder {
        let format = ImageFormat(file: bytes.bindMemory(to: UInt8.self).span)
        if let decoder = all.first(where: { $0.format == format }) {
            let file = HeaderBytes(Span(_unsafeBytes: bytes))
            guard !file.hasHEICFrames || file.hasPrimaryItem || file.hasAVIFBrand else {
                throw .framesAlone(format)
            }
            return decoder
        }
        switch format.traits.input?.family {
        case nil where format == .undefined: throw .unknown(bytes)
        case nil: throw .notDecoded(format)
        case .vector?: throw .decodedApart(format)
        case .raster?: throw .notDrawn(format)
        }
    }
}
