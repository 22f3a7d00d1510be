import ImagebusTransforms
import TestKit
import Testing

/// In-process transforms compared with Pillow.
@Suite struct ImageTransformsTests {
    private let transforms: ImageTransforms

    init() throws { transforms = try ImageTransforms() }

    /// A gradient: red increases to the right, green downwards.
    private func slope(_ width: Int, _ height: Int) throws -> PixelImage {
        let samples = (0..<height).flatMap { y in
            (0..<width).flatMap { x in [UInt8(x * 7), UInt8(y * 11), 40, 200] as [UInt8] }
        }
        return try PixelImage(
            size: PixelSize(width: width, height: height), bands: 4, samples: samples)
    }

    /// A file decoded by Pillow: width, height, and RGBA.
    private func pillow(_ file: [UInt8], _ more: String = "") throws -> [UInt8] {
        let script = """
            import io, struct, sys
            from PIL import Image, ImageOps
            image = Image.open(io.BytesIO(sys.stdin.buffer.read()))
            \(more)
            image = image.convert("RGBA")
            sys.stdout.buffer.write(struct.pack("<HH", *image.size) + image.tobytes())
            """
        return try Tool.run(["python3", "-c", script], input: file)
    }

    private func expected(_ image: PixelImage) -> [UInt8] {
        let rect = PixelRect(x: 0, y: 0, size: image.size)
        let colors = image.colors(in: rect) ?? []
        let sides = [image.size.width, image.size.height].flatMap {
            [UInt8($0 & 255), UInt8($0 >> 8)]
        }
        return sides + colors.flatMap { [$0.red, $0.green, $0.blue, $0.alpha] }
    }

    @Test func aFileHasThePixelsThatWereEncoded() throws {
        let image = try slope(31, 17)
        let file = try transforms.encode(image)
        #expect(try pillow(file) == expected(image))
        #expect(try transforms.image(of: file).samples == image.samples)
        let lossless = OutputOptions(format: .webp, lossless: true)
        #expect(try pillow(transforms.encode(image, lossless)) == expected(image))
    }

    /// The reference is rotated by Pillow, ours by the decoder.
    @Test(arguments: 1...8)
    func anImageIsUpright(orientation: Int) throws {
        let jpeg = try Tool.run(
            [
                "python3", "-c",
                """
                import io, sys
                from PIL import Image
                image = Image.open(io.BytesIO(sys.stdin.buffer.read())).convert("RGB")
                exif = image.getexif()
                exif[0x0112] = \(orientation)
                image.save(sys.stdout.buffer, "PNG", exif=exif)
                """,
            ], input: transforms.encode(slope(24, 13)))
        let upright = try pillow(jpeg, "image = ImageOps.exif_transpose(image)")
        #expect(try expected(transforms.image(of: jpeg)) == upright)
    }

    @Test func stepsAreThoseOfTheirNames() throws {
        let image = try slope(30, 20)
        let rect = PixelRect(x: 3, y: 4, size: PixelSize(width: 9, height: 8))
        let file = try transforms.encode(image)
        func transformed(_ steps: TransformStep...) throws -> [UInt8] {
            try expected(transforms.apply(steps, to: image))
        }
        #expect(try transformed(.crop(rect)) == pillow(file, "image = image.crop((3, 4, 12, 12))"))
        #expect(
            try transformed(.flip(horizontal: true, vertical: false))
                == pillow(file, "image = ImageOps.mirror(image)"))
        #expect(
            try transformed(.rotate(Rotation(degreesClockwise: 90)))
                == pillow(file, "image = image.transpose(Image.Transpose.ROTATE_270)"))
    }

    @Test func colorsAreInsideOrNotAtAll() throws {
        let image = try slope(4, 3)
        #expect(image.color(at: 3, 2) == Color(argb: 0xC815_1628))
        #expect(image.color(at: 4, 0) == nil && image.color(at: 0, 3) == nil)
        #expect(image.color(at: -1, 0) == nil && image.color(at: 0, -1) == nil)
        let two = PixelSize(width: 2, height: 2)
        let colors = image.colors(in: PixelRect(x: 1, y: 1, size: two))
        #expect(
            colors?.map(\.red) == [7, 14, 7, 14] && colors?.map(\.green) == [11, 11, 22, 22])
        for (x, y) in [(3, 0), (0, 2), (-1, 0), (Int.max, 0), (0, Int.min)] {
            #expect(image.colors(in: PixelRect(x: x, y: y, size: two)) == nil)
        }
        let none = PixelSize(width: 0, height: 1)
        #expect(image.colors(in: PixelRect(x: 0, y: 0, size: none)) == nil)
        let gray = try PixelImage(
            size: PixelSize(width: 2, height: 1), bands: 1, samples: [9, 250])
        #expect(gray.color(at: 1, 0) == Color(argb: 0xFFFA_FAFA) && !gray.hasAlpha)
    }

    private func code(_ body: () throws -> Void) -> ErrorCode? {
        do {
            try body()
            return nil
        } catch {
            return (error as? ImageError)?.code
        }
    }

    @Test func whatIsNoImageIsRefused() throws {
        let image = try slope(9, 9)
        let file = try transforms.encode(image)
        #expect(code { _ = try transforms.image(of: []) } == .unsupportedFormat)
        #expect(code { _ = try transforms.image(of: [1, 2, 3]) } == .unsupportedFormat)
        #expect(code { _ = try transforms.image(of: Array(file.prefix(60))) } == .badImageData)
        let svg = Array(
            #"<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"></svg>"#.utf8)
        #expect(code { _ = try transforms.image(of: svg) } == .unsupportedFormat)
        #expect(code { _ = try transforms.encode(image, OutputOptions(format: .heic)) } != nil)
        for (bands, count) in [(0, 0), (5, 405), (4, 323), (4, 325), (3, 324)] {
            let samples = [UInt8](repeating: 0, count: count)
            #expect(
                code { _ = try PixelImage(size: image.size, bands: bands, samples: samples) }
                    == .invalidRequest)
        }
        let none = PixelSize(width: 0, height: 9)
        #expect(
            code { _ = try PixelImage(size: none, bands: 4, samples: []) } == .invalidRequest)
    }

    @Test func stepsThatCannotBeDoneAreRefused() throws {
        let image = try slope(9, 9)
        func refusal(_ step: TransformStep) -> ErrorCode? {
            code { _ = try transforms.apply([step], to: image) }
        }
        let away = PixelRect(x: 9, y: 9, size: PixelSize(width: 1, height: 1))
        #expect(refusal(.crop(away)) == .stepFailed)
        #expect(refusal(.blur(radius: -1)) == .invalidRequest)
        #expect(refusal(.blur(radius: .nan)) == .invalidRequest)
    }

    @Test func sizesAreLimitedBeforeThereArePixels() throws {
        let small = try ImageTransforms(limits: ImageLimits(sideMax: 20, pixelsMax: 300))
        let image = try slope(20, 15)
        #expect(throws: Never.self) { try small.image(of: transforms.encode(image)) }
        for (width, height) in [(21, 2), (20, 16)] {
            let file = try transforms.encode(slope(width, height))
            #expect(code { _ = try small.image(of: file) } == .limitExceeded)
        }
        let large = PixelSize(width: 20, height: 20)
        #expect(
            code { _ = try small.apply([.resize(large, .stretch, enlarges: true)], to: image) }
                == .limitExceeded)
    }
}
