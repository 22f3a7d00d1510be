import ImageModel
import JPEG
import Messages
import StageKit
import Testing
import Vips

/// What comes in planes, and what goes the general way because its samples mean something else.
@Suite struct RoutingTests {
    @Test(arguments: [false, true])
    func aJPEGComesInPlanes(isProgressive: Bool) throws {
        let bytes = try Self.picture.jpeg(.yuv420, isProgressive: isProgressive)
        #expect(try layout(bytes).isPlanar)
        let difference = try Lanes(bytes: bytes).planar(Job([])).difference(
            from: Lanes(bytes: bytes).general(Job([])))
        #expect(difference < 3)
    }

    @Test func aGreyJPEGIsOnePlane() throws {
        let layout = try layout(Self.picture.jpeg(.grey))
        #expect(layout.planes.map(\.bands) == [.grey])
    }

    @Test func coloursThatNeedAProfileAreConverted() throws {
        let bytes = try Self.picture.jpeg(.yuv420)
        #expect(try layout(bytes.withProfile("GBR display")).planes.map(\.bands) == [.rgb])
        #expect(try layout(bytes.withProfile("IEC sRGB")).isPlanar)
    }

    @Test func aJPEGThatIsRGBIsInterleaved() throws {
        let bytes = try Self.picture.jpeg(.yuv444).withAdobe(transform: 0)
        #expect(try layout(bytes).planes.map(\.bands) == [.rgb])
        // Its components are what the other file calls Y, Cb and Cr.
        let found = try result(bytes).samples.prefix(3)
        let (luma, blue, red) = Self.picture.colours(0, 0)
        for (sample, wanted) in zip(found, [luma, blue, red]) {
            #expect(abs(Double(sample) - wanted) < 24)
        }
    }

    @Test func aJPEGThatIsCMYKIsConverted() throws {
        let bytes = try Self.picture.jpeg(.grey).asFourComponents
        #expect(try layout(bytes).planes.map(\.bands) == [.rgb])
        #expect(try result(bytes).size == Self.picture.size)
    }

    /// libjpeg as Debian builds it has 8 bits.
    @Test func twelveBitsAreATypedError() throws {
        var bytes = try Self.picture.jpeg(.grey)
        let frame = try #require(bytes.place(of: 0xC0))
        bytes[frame + 1] = 0xC1
        bytes[frame + 4] = 12
        let error = #expect(throws: ImageError.self) { try layout(bytes) }
        #expect(error?.code == .badImageData || error?.code == .unsupportedFormat)
    }

    @Test func aPNGWithAlphaKeepsIt() throws {
        let bytes = try Self.translucent()
        #expect(try layout(bytes).planes.map(\.bands) == [.rgba])
        let found = try Lanes(bytes: bytes).general(Job.fit(20, as: .png))
        #expect(found.bands == 4)
        #expect(found.samples[3] < 20)
    }

    private static let picture = TestPicture.photograph(120, 90)

    private func layout(_ bytes: [UInt8]) throws -> PixelLayout {
        try #require(Lanes(bytes: bytes).decoded().pixels).layout
    }

    private func result(_ bytes: [UInt8]) throws -> TestPicture {
        try Lanes(bytes: bytes).general(Job([], as: .png))
    }

    private static func translucent() throws -> [UInt8] {
        let samples: [UInt8] = (0..<(40 * 40 * 4)).map { index in UInt8(index / 4 % 40) * 6 }
        return try VipsLibrary().exclusively {
            try samples.withUnsafeBytes { pixels in
                var bytes: [UInt8] = []
                try VipsImage.pixels(pixels, width: 40, height: 40, bands: 4)
                    .save(.png(compression: 1)) {
                        bytes.append(contentsOf: $0)
                        return true
                    }
                return bytes
            }
        }
    }
}
