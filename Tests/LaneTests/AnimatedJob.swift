import Decoding
import Model
import StageKit
import TestKit
import Testing
import Transforming

/// An animated file that is decoded and transformed as in a request for all of its frames.
struct AnimatedJob {
    var steps: [TransformStep] = []
    var output = OutputOptions()
    var limits = ImageLimits()
    /// All frames if `nil`, else one of them.
    var frame: Int?

    private func reference(_ count: Int) -> BlockReference {
        BlockReference(segment: 1, offset: 0, length: UInt64(count), block: BlockID(1))
    }

    func decode(
        _ bytes: [UInt8], _ space: HeapSpace = HeapSpace(),
        cancellation: CancellationFlag = CancellationFlag()
    ) throws -> (image: DecodedImage, pixels: [UInt8]) {
        var work = DecodeWork(
            source: reference(bytes.count), frame: frame, need: .full, limits: limits)
        work.wantsAllFrames = frame == nil
        let image = try bytes.withUnsafeBytes {
            try DecodeStage().perform(
                work, input: $0, output: space, cancellation: cancellation)
        }
        return (image, space.bytes(try #require(image.frames.first).reference))
    }

    func transform(
        _ decoded: (image: DecodedImage, pixels: [UInt8]), _ space: HeapSpace = HeapSpace(),
        cancellation: CancellationFlag = CancellationFlag()
    ) throws -> (info: ImageInfo, bytes: [UInt8]) {
        let frame = try #require(decoded.image.frames.first)
        let work = TransformWork(
            source: reference(decoded.pixels.count), layout: frame.layout,
            sourceInfo: decoded.image.info, steps: steps, output: output, limits: limits)
        let image = try decoded.pixels.withUnsafeBytes {
            try TransformStage().perform(
                work, pixels: $0, output: space, cancellation: cancellation)
        }
        #expect(work.mayBecome(image.info.size))
        #expect(work.resultFormat(hasAlpha: image.info.hasAlpha) == image.info.format)
        return (image.info, space.bytes(image.reference))
    }

    func run(_ bytes: [UInt8]) throws -> (info: ImageInfo, bytes: [UInt8]) {
        try transform(decode(bytes))
    }

    /// The frames of a result as composed by another decoder.
    static func read(_ bytes: [UInt8], as ending: String) throws -> AnimatedFile {
        let folder = TemporaryDirectory()
        return try AnimatedFile(at: folder.write(bytes, to: "made.\(ending)"), in: folder)
    }
}
