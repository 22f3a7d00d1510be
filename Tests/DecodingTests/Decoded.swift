import Decoding
import ImageModel
import Messages
import StageContract
import Testing

/// A decode that went well, its pixels read from the block that the outcome names.
struct Decoded {
    let image: DecodedImage
    let samples: [UInt8]

    var layout: PixelLayout? { image.pixels?.layout }

    /// The samples of one pixel.
    func pixel(_ x: Int, _ y: Int) throws -> [UInt8] {
        let layout = try #require(layout)
        let bands = Int(layout.bands.rawValue)
        let start = y * layout.stride + x * bands
        return Array(samples[start..<(start + bands)])
    }
}

/// Runs the stage and checks what holds for every decode: a block for pixels, none for an error.
func decode(
    _ bytes: [UInt8], _ need: DecodeNeed = .full, limits: ImageLimits = ImageLimits(),
    space: HeapSpace = HeapSpace(), cancellation: CancellationFlag = CancellationFlag()
) throws -> Decoded {
    let source = BlockReference(
        segment: 1, offset: 0, length: UInt64(bytes.count), block: BlockID(1))
    let work = DecodeWork(source: source, need: need, limits: limits)
    let stage = try DecodeStage()
    do {
        let image = try bytes.withUnsafeBytes { input in
            try stage.perform(work, input: input, output: space, cancellation: cancellation)
        }
        #expect(space.outstanding == (image.pixels == nil ? 0 : 1))
        let samples = image.pixels.map { space.bytes($0.reference) } ?? []
        #expect(samples.count == image.pixels?.layout.byteCount ?? 0)
        return Decoded(image: image, samples: samples)
    } catch {
        #expect(space.outstanding == 0, "an error leaves a block behind")
        throw error
    }
}

/// The error with which a decode ends.
func failure(
    _ bytes: [UInt8], _ need: DecodeNeed = .full, limits: ImageLimits = ImageLimits(),
    space: HeapSpace = HeapSpace()
) -> ImageError? {
    #expect(throws: ImageError.self) {
        try decode(bytes, need, limits: limits, space: space)
    }
}
