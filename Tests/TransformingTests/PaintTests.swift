import Model
import StageKit
import Testing
import Transforming
import Vips

/// Images of one color.
@Suite struct PaintTests {
    private static let opaque = Color(argb: 0xFF12_3456)
    private static let glass = Color(argb: 0x8012_3456)

    private func paint(
        _ color: Color, width: Int = 33, height: Int = 21,
        _ output: OutputOptions = OutputOptions(), limits: ImageLimits = ImageLimits(),
        space: HeapSpace = HeapSpace(), cancellation: CancellationFlag = CancellationFlag()
    ) throws -> Transformed {
        let work = PaintWork(
            color: color, size: PixelSize(width: width, height: height), output: output,
            limits: limits)
        do {
            let image = try TransformStage().paint(
                work, output: space, cancellation: cancellation)
            #expect(space.outstanding == 1)
            return try Transformed(image, space.bytes(image.reference))
        } catch {
            #expect(space.outstanding == 0, "a block is left after an error")
            throw error
        }
    }

    @Test func everyPixelHasTheColorAsItWasGiven() throws {
        let opaque = try paint(Self.opaque)
        #expect(opaque.image.info.format == .png)
        #expect(opaque.size == PixelSize(width: 33, height: 21))
        #expect(!opaque.header.hasAlpha && !opaque.image.info.hasAlpha)
        let glass = try paint(Self.glass)
        #expect(glass.header.hasAlpha && glass.image.info.hasAlpha)
        for (x, y) in [(0, 0), (32, 0), (0, 20), (32, 20), (16, 10)] {
            #expect(opaque.pixel(x, y) == [0x12, 0x34, 0x56])
            #expect(glass.pixel(x, y) == [0x12, 0x34, 0x56, 0x80])
        }
    }

    @Test func aPixelIsAnImage() throws {
        #expect(try paint(Self.glass, width: 1, height: 1).pixel(0, 0) == [0x12, 0x34, 0x56, 0x80])
    }

    @Test(arguments: ImageFormat.encodable)
    func theFormatIsTheOneThatIsAskedFor(format: ImageFormat) throws {
        let output = OutputOptions(format: format, quality: 100)
        let result = try paint(Self.opaque, output)
        #expect(result.image.info.format == format)
        for (sample, wanted) in zip(result.pixel(20, 9), [0x12, 0x34, 0x56]) {
            #expect(abs(sample - wanted) <= 6)
        }
    }

    @Test func transparencyBecomesWhiteInAJPEG() throws {
        let result = try paint(Color(argb: 0), OutputOptions(format: .jpeg))
        #expect(result.pixel(3, 3).allSatisfy { $0 > 250 })
    }

    @Test func aColorOfTheRequestIsBehindAJPEG() throws {
        var output = OutputOptions(format: .jpeg, quality: 100)
        output.background = Color(argb: 0xFF10_2030)
        let result = try paint(Color(argb: 0), output)
        #expect(zip(result.pixel(3, 3), [0x10, 0x20, 0x30]).allSatisfy { abs($0 - $1) <= 3 })
    }

    @Test func whatIsTooLargeIsNotBegun() throws {
        let limits = ImageLimits(pixelsMax: 1_000)
        #expect {
            try paint(Self.opaque, width: 100, height: 100, limits: limits)
        } throws: {
            ($0 as? ImageError)?.code == .limitExceeded
        }
        #expect {
            try paint(Self.opaque, width: 17_000, height: 10, OutputOptions(format: .webp))
        } throws: {
            ($0 as? ImageError)?.code == .limitExceeded
        }
    }

    @Test func whatIsNotEncodedIsSaidSo() throws {
        #expect {
            try paint(Self.opaque, OutputOptions(format: .bmp))
        } throws: {
            ($0 as? ImageError)?.code == .unsupportedFormat
        }
    }

    @Test func nobodyPaintsForWhoHasLeft() throws {
        let flag = CancellationFlag()
        flag.cancel()
        #expect {
            try paint(Self.opaque, cancellation: flag)
        } throws: {
            ($0 as? ImageError)?.code == .cancelled
        }
    }
}
