import Decoding
import Model
import StageKit
import Testing

/// A successful decode, with the pixels read from the block in the outcome.
struct Decoded {
    let image: DecodedImage
    let samples: [UInt8]

    var layout: PixelLayout? { image.frames.first?.layout }

    /// The first plane, with its displayed size.
    var plane: PixelPlane? {
        guard let layout, var plane = layout.planes.first else { return nil }
        guard layout.orientation.transposes else { return plane }
        plane.size = plane.size.transposed
        (plane.activeWidth, plane.activeHeight) = (plane.activeHeight, plane.activeWidth)
        return plane
    }

    /// The samples of one pixel in display coordinates; red, green and blue for planar images.
    func pixel(_ x: Int, _ y: Int) throws -> [UInt8] {
        let layout = try #require(layout)
        let size = layout.planes[0].size
        let orientation = layout.orientation
        let displayed = orientation.displayed(size)
        let across = orientation.mirrorsHorizontally ? displayed.width - 1 - x : x
        let down = orientation.mirrorsVertically ? displayed.height - 1 - y : y
        let (column, row) = orientation.transposes ? (down, across) : (across, down)
        let values = layout.planes.map { plane in
            sample(
                plane, column * plane.size.width / size.width,
                row * plane.size.height / size.height)
        }
        return layout.isPlanar ? Self.rgb(values.map { Double($0[0]) }) : values[0]
    }

    private func sample(_ plane: PixelPlane, _ column: Int, _ row: Int) -> [UInt8] {
        let bands = Int(plane.bands.rawValue)
        let start = plane.offset + row * plane.stride + column * bands
        return Array(samples[start..<(start + bands)])
    }

    /// Conversion of YCbCr to RGB by JFIF 1.02.
    private static func rgb(_ ycc: [Double]) -> [UInt8] {
        let (luma, blue, red) = (ycc[0], ycc[1] - 128, ycc[2] - 128)
        return [luma + 1.402 * red, luma - 0.344136 * blue - 0.714136 * red, luma + 1.772 * blue]
            .map { UInt8(clamping: Int($0.rounded())) }
    }
}

/// Runs a stage, by default a new one; `change` completes the work.
func perform(
    _ bytes: [UInt8], on stage: DecodeStage? = nil, by family: FormatFamily = .raster,
    in space: HeapSpace = HeapSpace(), cancellation: CancellationFlag = CancellationFlag(),
    _ change: (inout DecodeWork) -> Void
) throws -> DecodedImage {
    let source = BlockReference(
        segment: 1, offset: 0, length: UInt64(bytes.count), block: BlockID(1))
    var work = DecodeWork(source: source, need: .full, limits: ImageLimits())
    change(&work)
    let stage = try stage ?? DecodeStage(family)
    return try bytes.withUnsafeBytes {
        try stage.perform(work, input: $0, output: space, cancellation: cancellation)
    }
}

/// Runs the stage and checks the invariants of every decode: a block for pixels, none for an error.
func decode(
    _ bytes: [UInt8], _ need: DecodeNeed = .full, keeping keeps: KeptParts = [],
    limits: ImageLimits = ImageLimits(), by family: FormatFamily = .raster,
    frame: Int? = nil, showsDamaged: Bool = false, space: HeapSpace = HeapSpace(),
    cancellation: CancellationFlag = CancellationFlag()
) throws -> Decoded {
    do {
        let image = try perform(bytes, by: family, in: space, cancellation: cancellation) {
            ($0.frame, $0.need, $0.keeps, $0.limits) = (frame, need, keeps, limits)
            $0.showsDamaged = showsDamaged
        }
        #expect(image.frames.count == (need == .header ? 0 : 1))
        #expect(space.outstanding == image.frames.count)
        let samples = image.frames.flatMap { space.bytes($0.reference) }
        #expect(samples.count >= image.frames.first?.layout.byteCount ?? 0)
        return Decoded(image: image, samples: samples)
    } catch {
        #expect(space.outstanding == 0, "a block is left after an error")
        throw error
    }
}

/// The error with which a decode fails.
func failure(
    _ bytes: [UInt8], _ need: DecodeNeed = .full, limits: ImageLimits = ImageLimits(),
    by family: FormatFamily = .raster, space: HeapSpace = HeapSpace()
) -> ImageError? {
    #expect(throws: ImageError.self) {
        try decode(bytes, need, limits: limits, by: family, space: space)
    }
}
