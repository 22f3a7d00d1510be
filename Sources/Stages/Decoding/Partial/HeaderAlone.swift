import ImageModel
import Vips

/// The beginning of a file of a format whose pixels are made of the whole file only.
struct HeaderAlone: FormatDecoder {
    let whole: any FormatDecoder

    var format: ImageFormat { whole.format }
    var loaders: [VipsLoader] { whole.loaders }
    var turnsPixels: Bool { whole.turnsPixels }

    func header(_ bytes: UnsafeRawBufferPointer) throws(VipsError) -> VipsImage {
        try whole.header(bytes)
    }

    func open(
        _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale
    ) throws(VipsError) -> VipsImage { throw .nothingToShow(format) }
}

extension VipsError {
    /// Of a file of which nothing can be shown yet.
    static func nothingToShow(_ format: ImageFormat) -> VipsError {
        VipsError(kind: .corrupt, operation: format.name, text: "nothing to show yet")
    }
}
