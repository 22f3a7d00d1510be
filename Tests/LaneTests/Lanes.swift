import CodecSupport
import Model
import StageKit
import Testing
import Transforming
import Vips

@testable import Decoding

/// Runs both lanes of the stages on a file.
struct Lanes {
    let bytes: [UInt8]

    /// The decoder's reduction factor for a job, and whether it rotates the result.
    func reduction(_ job: Job) throws -> (factor: Int, isTurned: Bool) {
        try VipsLibrary().exclusively {
            try bytes.withUnsafeBytes { input in
                let source = try source(input)
                return (source.scale(for: job.need).denominator, !source.orientation.isUpright)
            }
        }
    }

    private func source(_ input: UnsafeRawBufferPointer) throws -> SourceImage {
        try SourceImage(input, by: FormatDecoders.raster.decoder(of: input))
    }

    /// Decodes the bytes for a job.
    func decoded(_ need: DecodeNeed = .full, space: HeapSpace = HeapSpace()) throws -> DecodedImage
    {
        let work = DecodeWork(source: reference, need: need, limits: ImageLimits())
        return try bytes.withUnsafeBytes {
            try DecodeStage().perform(
                work, input: $0, output: space, cancellation: CancellationFlag())
        }
    }

    /// The planar lane, from the decoder's planes to those of the encoder.
    func planar(_ job: Job) throws -> TestImage {
        let space = HeapSpace()
        let decoded = try decoded(job.need, space: space)
        let pixels = try #require(decoded.frames.first)
        #expect(pixels.layout.planes.allSatisfy { $0.bands == .gray })
        return try transform(pixels, decoded.info, job, space)
    }

    /// The general lane: decoded, converted and rotated by libvips.
    func general(_ job: Job) throws -> TestImage {
        let space = HeapSpace()
        let (info, pixels) = try VipsLibrary().exclusively {
            try bytes.withUnsafeBytes { input in
                do {
                    let source = try source(input)
                    let image = try source.pixels(
                        at: source.scale(for: job.need), cancellation: CancellationFlag())
                    let kept = try RetainedMetadata(of: source, [])
                    return (source.info, try image.write(to: space, with: kept))
                } catch {
                    throw ImageError(decoding: error)
                }
            }
        }
        return try transform(pixels, info, job, space)
    }

    /// The result of both stages, whichever lane they take.
    func encoded(_ job: Job) throws -> [UInt8] {
        let space = HeapSpace()
        let decoded = try decoded(job.need, space: space)
        let pixels = try #require(decoded.frames.first)
        let encoded = try perform(Self.work(pixels, decoded.info, job), pixels, space)
        return space.bytes(encoded.reference)
    }

    private func transform(
        _ pixels: DecodedImage.Frame, _ info: ImageInfo, _ job: Job, _ space: HeapSpace
    ) throws -> TestImage {
        let work = Self.work(pixels, info, job)
        let encoded = try perform(work, pixels, space)
        let bytes = space.bytes(encoded.reference)
        let image = try VipsWay.decoded(bytes)
        #expect(image.size == encoded.info.size)
        // The values that the coordinator and the cache verify it against.
        #expect(work.resultSize == encoded.info.size)
        #expect(work.resultFormat(hasAlpha: encoded.info.hasAlpha) == encoded.info.format)
        #expect(ImageHeader(bytes.span)?.size == encoded.info.size)
        #expect(ImageHeader(bytes.span)?.format == encoded.info.format)
        return image
    }

    private static func work(
        _ pixels: DecodedImage.Frame, _ info: ImageInfo, _ job: Job
    ) -> TransformWork {
        TransformWork(
            source: pixels.reference, layout: pixels.layout, sourceInfo: info, steps: job.steps,
            output: job.output, limits: ImageLimits())
    }

    private func perform(
        _ work: TransformWork, _ pixels: DecodedImage.Frame, _ space: HeapSpace
    ) throws -> EncodedImage {
        try space.bytes(pixels.reference).withUnsafeBytes {
            try TransformStage().perform(
                work, pixels: $0, output: space, cancellation: CancellationFlag())
        }
    }

    private var reference: BlockReference {
        BlockReference(segment: 1, offset: 0, length: UInt64(bytes.count), block: BlockID(1))
    }
}
