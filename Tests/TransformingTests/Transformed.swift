import Model
import StageKit
import TestKit
import Testing
import Transforming
import Vips

/// A successful transformation, with the bytes read from the block in the outcome.
struct Transformed {
    let image: EncodedImage
    let bytes: [UInt8]
    /// The bytes decoded again, by libvips alone.
    let header: VipsHeader
    let samples: [UInt8]

    var size: PixelSize { PixelSize(width: header.width, height: header.height) }

    /// The samples of one pixel.
    func pixel(_ x: Int, _ y: Int) -> [Int] {
        let start = (y * header.width + x) * header.bands
        return samples[start..<(start + header.bands)].map { Int($0) }
    }

    /// Which quarter of `Source.quarters` is seen in each quarter.
    var quarters: [Int] {
        (0..<4).map { quarter in
            let x = header.width * (1 + 2 * (quarter % 2)) / 4
            let y = header.height * (1 + 2 * (quarter / 2)) / 4
            return (pixel(x, y)[0] - 10) / 60
        }
    }
}

extension Transformed {
    /// Decodes the result, and checks that the reported properties match the bytes.
    init(_ image: EncodedImage, _ bytes: [UInt8]) throws {
        self = try read(image, bytes)
        #expect(size == image.info.size)
        #expect(header.hasAlpha == image.info.hasAlpha)
        #expect(ImageFormat.sniff(bytes, tail: []) == image.info.format)
        // The header as the cache reads it.
        #expect(ImageHeader(bytes.span)?.format == image.info.format)
        #expect(ImageHeader(bytes.span)?.size == image.info.size)
    }
}

/// Output options for a format, completed by `change`.
func output(
    _ format: ImageFormat, quality: Int? = nil, depth: Int? = nil, lossless: Bool = false,
    _ change: (inout OutputOptions) -> Void = { _ in }
) -> OutputOptions {
    var output = OutputOptions(format: format, quality: quality, lossless: lossless)
    output.depth = depth
    change(&output)
    return output
}

/// Runs the stage and checks the invariants of every job: one block for a result, none for an
/// error, and properties that match the bytes.
func transform(
    _ source: Source, _ steps: [TransformStep], output: OutputOptions = OutputOptions(),
    limits: ImageLimits = ImageLimits(), space: HeapSpace = HeapSpace(),
    cancellation: CancellationFlag = CancellationFlag(), overlays: [Source] = []
) throws -> Transformed {
    let reference = BlockReference(
        segment: 1, offset: 0, length: UInt64(source.samples.count), block: BlockID(1))
    let work = TransformWork(
        source: reference, layout: source.layout, sourceInfo: source.info, steps: steps,
        output: output, limits: limits,
        overlays: overlays.map {
            OverlayInput(source: reference, layout: $0.layout, info: $0.info)
        })
    let layers = overlays.map { overlay in
        overlay.samples.withUnsafeBytes { OverlayPixels(copying: $0) }
    }
    let stage = try TransformStage()
    do {
        let image = try source.samples.withUnsafeBytes { pixels in
            try stage.perform(
                work, pixels: pixels, overlays: layers, output: space, cancellation: cancellation)
        }
        #expect(space.outstanding == 1)
        // The check that the coordinator applies to the outcome.
        #expect(work.mayBecome(image.info.size))
        #expect(work.resultFormat(hasAlpha: image.info.hasAlpha) == image.info.format)
        return try Transformed(image, space.bytes(image.reference))
    } catch {
        #expect(space.outstanding == 0, "a block is left after an error")
        throw error
    }
}

/// The error with which a job fails.
func failure(
    _ source: Source, _ steps: [TransformStep], output: OutputOptions = OutputOptions(),
    limits: ImageLimits = ImageLimits(), space: HeapSpace = HeapSpace()
) -> ImageError? {
    #expect(throws: ImageError.self) {
        try transform(source, steps, output: output, limits: limits, space: space)
    }
}

private func read(_ image: EncodedImage, _ bytes: [UInt8]) throws -> Transformed {
    // libvips reads PPM but not PAM.
    let readable =
        image.info.format == .pam
        ? try Tool.run(
            ["convert-im6.q16", "pam:-", image.info.hasAlpha ? "png32:-" : "png24:-"],
            input: bytes) : bytes
    return try VipsLibrary(loaders: [.jpeg, .png, .webp, .gif, .tiff, .heif, .jxl]).exclusively {
        try readable.withUnsafeBytes { input in
            let decoded =
                switch image.info.format {
                case .png, .pam: try VipsImage.png(input)
                case .webp: try VipsImage.webp(input)
                case .gif: try VipsImage.gif(input)
                case .tiff: try VipsImage.load(input, by: .tiff)
                case .avif: try VipsImage.load(input, by: .heif)
                case .jxl: try VipsImage.load(input, by: .jxl)
                default: try VipsImage.jpeg(input)
                }
            return try Transformed(
                image: image, bytes: bytes, header: decoded.header, samples: decoded.samples())
        }
    }
}
