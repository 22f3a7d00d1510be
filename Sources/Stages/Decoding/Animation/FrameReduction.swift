import ImageModel
import Messages

/// By how much the frames of an animation are made smaller as they are decoded, so that all of them
/// fit into memory: each pixel is the mean of a square of pixels of the canvas.
struct FrameReduction {
    /// Of a reduced frame, as it is stored.
    let size: PixelSize
    private let canvas: PixelSize
    /// Pixels of the canvas on each side of a square.
    private let shrink: Int

    /// No larger than it must be: small animations are decoded as they are.
    ///
    /// - Parameters:
    ///   - need: what each frame has to cover after it.
    ///   - bytes: what the pixels of all frames should take at most.
    init(of source: SourceImage, frames: Int, for need: DecodeNeed, bytes: Int) {
        canvas = source.storedSize
        let most = need.shrink(
            for: source.info.size,
            permitted: Array(1...max(1, min(64, canvas.width, canvas.height))))
        let (limit, stored) = (bytes / 4 / max(1, frames), canvas)
        shrink =
            (1...most).first { shrink in
                DecodeScale(1, over: shrink).size(stored).area.map { $0 <= limit } ?? false
            } ?? most
        size = DecodeScale(1, over: shrink).size(canvas)
    }

    /// Writes a frame, which is RGBA of 8 bits, alpha straight: transparent pixels add no color.
    func write(_ pixels: [UInt8], to output: UnsafeMutableRawBufferPointer) {
        guard shrink > 1 else { return output.copyBytes(from: pixels) }
        for row in 0..<size.height {
            let rows = row * shrink..<min((row + 1) * shrink, canvas.height)
            for column in 0..<size.width {
                let columns = column * shrink..<min((column + 1) * shrink, canvas.width)
                let mean = mean(of: pixels, rows, columns)
                let place = 4 * (row * size.width + column)
                for band in 0..<4 { output[place + band] = UInt8(mean[band]) }
            }
        }
    }

    private func mean(
        of pixels: [UInt8], _ rows: Range<Int>, _ columns: Range<Int>
    ) -> SIMD4<Int32> {
        var sum = SIMD4<Int32>()
        for row in rows {
            for column in columns {
                let place = 4 * (row * canvas.width + column)
                let alpha = Int32(pixels[place + 3])
                sum &+= SIMD4(
                    Int32(pixels[place]) &* alpha, Int32(pixels[place + 1]) &* alpha,
                    Int32(pixels[place + 2]) &* alpha, alpha)
            }
        }
        let (alpha, count) = (sum[3], Int32(rows.count * columns.count))
        guard alpha > 0 else { return SIMD4() }
        var mean = (sum &+ alpha / 2) / alpha
        mean[3] = (alpha + count / 2) / count
        return mean
    }
}

extension ImageLimits {
    /// Bytes of all frames of an animation beyond which they are reduced.
    var unreducedBytes: Int { pixelBytesMax / 4 }
}
