import ImageModel
import Messages
import StageContract
import Vips

/// Pixels about to be computed, in the form in which they leave the stage.
struct PendingPixels {
    let image: VipsImage
    let bands: PixelPlane.Bands
    let samples: SampleForm
    let columns: ReducedSide
    let rows: ReducedSide

    var layout: PixelLayout {
        PixelLayout(
            bands: bands, size: PixelSize(width: columns.count, height: rows.count),
            stride: columns.count * Int(bands.rawValue) * samples.bytes, samples: samples,
            activeWidth: columns.active, activeHeight: rows.active)
    }

    /// Computes the pixels straight into a block of `output`, what is kept behind them.
    func write(
        to output: some OutputSpace, with kept: KeptBytes = KeptBytes()
    ) throws(ImageError) -> DecodedImage.Frame {
        let layout = layout
        guard let count = layout.byteCount else {
            throw ImageError(.internalError, "the decoder made an image of no size")
        }
        let block = try output.reserve(count + kept.byteCount)
        do throws(ImageError) {
            try ImageError.mapping { () throws(VipsError) in
                try image.write(to: UnsafeMutableRawBufferPointer(rebasing: block.bytes[..<count]))
            }
            try InflatedBytes.check()
        } catch {
            output.discard(block)
            throw error
        }
        return block.frame(layout, pixelBytes: count, with: kept)
    }
}
