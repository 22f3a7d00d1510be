import Model
import TestKit
import Testing

/// Animations of which some frames have arrived.
@Suite struct PartialAnimationTests {
    private static let names = [
        "kept.gif", "opaque-shared.gif", "mixed.apng", "half.apng", "palette.apng", "mixed.webp",
        "half-replaced.webp", "lossy.webp",
    ]

    @Test(arguments: names)
    func framesAreCountedAsTheyArrive(name: String) throws {
        let file = try AnimatedFile(generated: name)
        var (pages, shown) = (1, false)
        for part in 1...100 {
            guard let found = try? partial(file.bytes.part(part)) else {
                #expect(pages == 1 && !shown, "\(part) %")
                continue
            }
            #expect(found.info.size == PixelSize(width: file.width, height: file.height))
            #expect(found.info.pages >= pages && found.info.pages <= file.frames.count)
            #expect(found.isShown || !shown, "\(part) %: earlier frames stay")
            (pages, shown) = (found.info.pages, found.isShown)
        }
        #expect(pages == file.frames.count && shown)
    }

    /// As soon as a second frame is counted, the first is complete.
    @Test(arguments: names)
    func theFirstFrameIsShownWhenItIsThere(name: String) throws {
        let file = try AnimatedFile(generated: name)
        let part = try #require(
            (1...100).first { part in
                (try? partial(file.bytes.part(part)).info.pages).map { $0 > 1 } ?? false
            })
        #expect(part < 60)
        let found = try partial(file.bytes.part(part))
        expectSame(found, file.frames[0], "\(name), first frame")
    }

    @Test(arguments: ["kept.gif", "mixed.apng", "mixed.webp"])
    func aFrameIsShownByItsNumberWhenItIsThere(name: String) throws {
        let file = try AnimatedFile(generated: name)
        for part in [30, 60, 90] {
            let bytes = file.bytes.part(part)
            let pages = try partial(bytes, .header).info.pages
            let last = try partial(bytes, frame: pages - 1)
            expectSame(last, file.frames[pages - 1], "\(name), frame \(pages - 1)")
            #expect(try !partial(bytes, frame: pages).isShown)
        }
    }

    /// A still image has no other frame.
    @Test(arguments: [PartialFile.baseline, .png, .lossy])
    func aStillImageHasItsFirstFrame(file: PartialFile) throws {
        let bytes = try file.bytes().part(70)
        #expect(try partial(bytes, frame: 0).samples == partial(bytes).samples)
        #expect(try !partial(bytes, frame: 1).isShown)
    }

    @Test(arguments: ["kept.gif", "mixed.apng", "mixed.webp"])
    func framesAreLimited(name: String) throws {
        let file = try AnimatedFile(generated: name)
        let few = ImageLimits(pagesMax: 3)
        let error = #expect(throws: ImageError.self) {
            try partial(file.bytes.part(95), limits: few)
        }
        #expect(error?.code == .limitExceeded && error?.details["limit"] == "pagesMax")
        let area = file.width * file.height
        let narrow = ImageLimits(pixelsMax: area - 1)
        let other = #expect(throws: ImageError.self) {
            try partial(file.bytes.part(95), limits: narrow)
        }
        #expect(other?.details["limit"] == "pixelsMax")
    }

    /// Colors of transparent pixels don't count, and a file without transparency has three bands.
    private func expectSame(_ found: Partial, _ wanted: [UInt8], _ what: String) {
        let bands = Int(found.layout?.planes[0].bands.rawValue ?? 0)
        guard bands >= 3, found.samples.count / bands == wanted.count / 4 else {
            Issue.record("\(what): \(bands) bands, \(found.samples.count) samples")
            return
        }
        let isSame = (0..<wanted.count / 4).allSatisfy { pixel in
            let alpha = bands == 4 ? found.samples[4 * pixel + 3] : 255
            guard alpha == wanted[4 * pixel + 3] else { return false }
            return alpha == 0
                || (0..<3).allSatisfy {
                    found.samples[bands * pixel + $0] == wanted[4 * pixel + $0]
                }
        }
        #expect(isSame, "\(what) differs")
    }
}
