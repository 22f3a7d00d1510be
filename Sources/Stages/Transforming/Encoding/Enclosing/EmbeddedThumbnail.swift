import ImageModel
import Vips

/// A small JPEG of a result, which goes into its EXIF (SEMANTICS §11.27).
enum EmbeddedThumbnail {
    /// Pixels on a side at most, as cameras have it (EXIF 2.32, DCF 2.0).
    private static let box = PixelSize(width: 160, height: 160)
    private static let quality = 75

    /// That of an image of so many pixels.
    static func size(of image: PixelSize) -> PixelSize {
        ResizeGeometry(source: image, box: box, mode: .fit, enlarges: false).output
    }

    /// Baseline, and nothing but the image: of pixels without alpha.
    static func jpeg(of image: VipsImage) throws(VipsError) -> [UInt8] {
        var bytes: [UInt8] = []
        try image.save(.jpeg(quality: quality, subsampling: .quarter)) {
            bytes.append(contentsOf: $0)
            return true
        }
        return JPEGSegments.bare(bytes)
    }
}
