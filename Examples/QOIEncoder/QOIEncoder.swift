import ImagebusWorker

/// Encodes images of the Quite OK Image Format (https://qoiformat.org), which Imagebus recognizes
/// but doesn't encode itself. The format is lossless, so the quality has no effect.
struct QOIEncoder: Encoder {
    let format = ImageFormat.qoi

    func encode(
        _ samples: Span<UInt8>, of image: PixelForm, quality: Int?, _ cancellation: Cancellation
    ) throws -> [UInt8] {
        let bands = image.bands.rawValue
        var file = Array("qoif".utf8)
        for side in [image.size.width, image.size.height] {
            file += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: side >> $0) }
        }
        file += [image.bands.hasAlpha ? 4 : 3, 0]
        var writer = QOIWriter()
        for start in stride(from: 0, to: samples.count, by: bands) {
            if start >> 16 != (start + bands) >> 16 { try cancellation.check() }
            let isGray = bands < 3
            let red = samples[start]
            writer.write(
                QOIPixel(
                    red: red, green: isGray ? red : samples[start + 1],
                    blue: isGray ? red : samples[start + 2],
                    alpha: image.bands.hasAlpha ? samples[start + bands - 1] : 255),
                to: &file)
        }
        writer.endRun(in: &file)
        return file + [0, 0, 0, 0, 0, 0, 0, 1]
    }
}
