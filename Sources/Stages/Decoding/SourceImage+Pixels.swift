import ImageModel
import Messages
import StageContract
import Vips

extension SourceImage {
    /// The whole way from encoded bytes to displayable pixels, in order; nothing is computed yet,
    /// except where the orientation needs the pixels in another order than the decoder makes them.
    func pixels(
        at scale: DecodeScale, as samples: SampleForm = .usual, cancellation: CancellationFlag
    ) throws(ImageError) -> PendingPixels {
        let opened = try open(at: scale)
        opened.watch { cancellation.isCancelled }
        return try ImageError.mapping { () throws(VipsError) -> PendingPixels in
            let coloured = try ColourConversion(self, to: samples).apply(to: opened)
            let turned = try orientation.apply(to: coloured)
            return try completed(turned, as: samples, at: scale)
        }
    }

    /// Adds the columns and rows of which the decoder left out a part.
    private func completed(
        _ image: VipsImage, as samples: SampleForm, at scale: DecodeScale
    ) throws(VipsError) -> PendingPixels {
        let header = image.header
        guard let bands = PixelPlane.Bands(rawValue: UInt8(clamping: header.bands)) else {
            throw VipsError(
                kind: .unsupported, operation: "decode", text: "\(header.bands) bands")
        }
        let (columns, rows) = decoder.sides(of: header, self, at: scale)
        guard columns.count != header.width || rows.count != header.height else {
            return PendingPixels(
                image: image, bands: bands, samples: samples, columns: columns, rows: rows)
        }
        let whole = try image.extended(
            left: columns.before, top: rows.before, width: columns.count, height: rows.count)
        return PendingPixels(
            image: whole, bands: bands, samples: samples, columns: columns, rows: rows)
    }
}
