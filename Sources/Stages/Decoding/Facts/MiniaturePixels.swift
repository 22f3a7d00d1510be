import ImageModel
import StageContract
import Vips

/// All pixels of a small image as facts need them: 8-bit sRGB with straight alpha.
struct MiniaturePixels {
    /// Columns and rows at most: a ThumbHash takes no more, and more says nothing new.
    static let sideMax = 100

    let size: PixelSize
    /// Four samples of each pixel, row by row.
    let samples: [UInt8]

    /// `samples` has four for each pixel.
    init(size: PixelSize, samples: [UInt8]) {
        precondition(samples.count == size.width * size.height * 4, "four samples a pixel")
        (self.size, self.samples) = (size, samples)
    }

    /// Of a source, made as small as its decoder makes it before it is made smaller here.
    init(
        _ source: SourceImage, at scale: DecodeScale, cancellation: CancellationFlag
    ) throws(ImageError) {
        size = Self.need.size(of: source.info.size)
        let pixels = try source.pixels(at: scale, cancellation: cancellation)
        let (columns, rows) = (size.width, size.height)
        samples = try ImageError.mapping { () throws(VipsError) -> [UInt8] in
            try pixels.image.miniature(width: columns, height: rows)
                .withPixels { (bytes) throws(VipsError) in Array(bytes) }
        }
    }

    /// What a decoder makes of the source.
    static let need = Need()

    struct Need {
        let box = PixelSize(width: sideMax, height: sideMax)

        var decode: DecodeNeed { .cover(box, .fit) }

        func size(of source: PixelSize) -> PixelSize {
            ResizeGeometry(source: source, box: box, mode: .fit).scaled
        }
    }

    /// Calls `body` with the samples of each pixel.
    func forEach(_ body: (_ red: UInt8, _ green: UInt8, _ blue: UInt8, _ alpha: UInt8) -> Void) {
        for start in stride(from: 0, to: samples.count, by: 4) {
            body(samples[start], samples[start + 1], samples[start + 2], samples[start + 3])
        }
    }
}
