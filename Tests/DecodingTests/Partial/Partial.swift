import Model
import StageKit
import Testing

/// The result of decoding the first bytes of a file.
struct Partial {
    let info: ImageInfo
    let layout: PixelLayout?
    let samples: [UInt8]

    var isShown: Bool { layout != nil }
}

/// Runs the stage on the start of a file and checks the invariants of every such job.
func partial(
    _ bytes: [UInt8], _ need: DecodeNeed = .full, frame: Int? = nil, keeping keeps: KeptParts = [],
    limits: ImageLimits = ImageLimits(), space: HeapSpace = HeapSpace(),
    by family: FormatFamily = .raster, cancellation: CancellationFlag = CancellationFlag()
) throws -> Partial {
    do {
        let image = try perform(bytes, by: family, in: space, cancellation: cancellation) {
            ($0.frame, $0.need, $0.keeps, $0.limits) = (frame, need, keeps, limits)
            $0.isPartial = true
        }
        #expect(image.frames.count <= (need == .header ? 0 : 1))
        #expect(space.outstanding == image.frames.count)
        #expect(image.properties == nil && image.info.pages >= 1)
        let samples = image.frames.flatMap { space.bytes($0.reference) }
        #expect(samples.count == image.frames.first?.layout.byteCount ?? 0)
        return Partial(info: image.info, layout: image.frames.first?.layout, samples: samples)
    } catch {
        #expect(error is ImageError && space.outstanding == 0, "\(error)")
        throw error
    }
}

extension [UInt8] {
    /// That many percent of the bytes, from the start.
    func part(_ hundredths: Int) -> [UInt8] { Array(prefix(count * hundredths / 100)) }
}

/// The PSNR of two images in decibels; 99 if they are equal.
func likeness(_ found: [UInt8], _ wanted: [UInt8]) -> Double {
    guard found.count == wanted.count, !found.isEmpty else { return 0 }
    var sum = 0
    for (left, right) in zip(found, wanted) {
        let difference = Int(left) - Int(right)
        sum += difference * difference
    }
    guard sum > 0 else { return 99 }
    return 10 * decimalLogarithm(255 * 255 * Double(found.count) / Double(sum))
}
