import Model
import TestKit
import Testing

/// The still image shown for a GIF, and its frame count.
@Suite struct FirstFrameTests {
    /// The screen is transparent outside the first frame, however large the screen is.
    @Test(arguments: ["kept.gif", "bare.gif", "wide.gif"])
    func theFirstFrameLiesOnTheScreenAsAnotherReaderSeesIt(name: String) throws {
        let file = try AnimatedFile(generated: name)
        let still = try decode(file.bytes)
        #expect(still.image.info.size == PixelSize(width: file.width, height: file.height))
        #expect(still.image.info.pages == file.frames.count)
        let bands = try #require(still.image.frames.first?.layout.planes.first?.bands)
        try #require(bands == .rgba)
        let count = file.width * file.height * 4
        #expect(SeenPixels.areSame(Array(still.samples.prefix(count)), file.frames[0]))
    }

    @Test(arguments: ["many.gif", "many.webp", "many.apng"])
    func aHundredThousandFramesAreCountedAndRefused(name: String) throws {
        let file = try #require(try AnimatedFile.hostile([name]).first).bytes
        for need in [DecodeNeed.header, .full] {
            let error = #expect(throws: ImageError.self) { try decode(file, need) }
            #expect(error?.code == .limitExceeded, "\(need)")
        }
        let limits = ImageLimits(pagesMax: 100_000)
        #expect(try decode(file, .header, limits: limits).image.info.pages == 100_000)
    }
}
