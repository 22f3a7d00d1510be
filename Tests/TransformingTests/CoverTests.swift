import Glibc
import Model
import TestKit
import Testing

/// `cover` followed by a crop, compared with ImageMagick: sizes and pixels.
@Suite struct CoverTests {
    /// Smooth waves, for which different filters agree.
    private static func waves(_ width: Int, _ height: Int) -> Source {
        Source(width, height) { x, y, band in
            let wave = sin(Double(x) / 9 + Double(band)) + cos(Double(y) / 7 - Double(band))
            return Int(127.5 + 60 * wave)
        }
    }

    /// Raw pixels produced by ImageMagick.
    private func magick(_ source: Source, _ words: [String]) throws -> [UInt8] {
        let size = source.info.size
        return try Tool.run(
            ["convert-im6.q16", "-size", "\(size)", "-depth", "8", "rgb:-", "-filter", "Lanczos"]
                + words + ["-depth", "8", "rgb:-"], input: source.samples)
    }

    private func psnr(_ left: [UInt8], _ right: [UInt8]) -> Double {
        let sum = zip(left, right).reduce(0.0) { sum, pair in
            let difference = Double(pair.0) - Double(pair.1)
            return sum + difference * difference
        }
        return sum == 0 ? .infinity : 10 * log10(255 * 255 * Double(left.count) / sum)
    }

    /// Our names and ImageMagick's.
    private static let places = [
        ("center", "center"), ("north", "north"), ("east", "east"), ("southwest", "southwest"),
        ("northeast:3:5", "northeast"),
    ]

    @Test(arguments: 0..<40)
    func aBoxIsCoveredAndCutAsImageMagickDoesIt(number: Int) throws {
        var random = SeededGenerator(seed: UInt64(number))
        func side(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
        let source = Self.waves(side(20...300), side(20...300))
        let box = PixelSize(width: side(8...200), height: side(8...200))
        let (place, word) = Self.places[number % Self.places.count]
        let gravity = try #require(Gravity(place))

        let covered = try transform(source, [.resize(box, .cover)])
        let whole = try magick(source, ["-resize", "\(box)^"])
        #expect(whole.count == covered.size.width * covered.size.height * 3)

        let extent = RelativeSize(width: .pixels(box.width), height: .pixels(box.height))
        let cut = try transform(source, [.resize(box, .cover), .cropTo(extent, gravity)])
        let wanted = try magick(
            source,
            ["-resize", "\(box)^"] + Self.extent(of: box, in: covered.size, place, word))
        #expect(cut.size == box)
        try #require(cut.samples.count == wanted.count)
        #expect(psnr(cut.samples, wanted) >= 36, "\(source.info.size) into \(box), \(place)")
    }

    /// ImageMagick's arguments for the crop. For an odd remainder it leaves the larger half at the
    /// left and the top.
    private static func extent(
        of box: PixelSize, in image: PixelSize, _ place: String, _ word: String
    ) -> [String] {
        let (across, down) = (image.width - box.width, image.height - box.height)
        let isPlaced = word == "center" || word == "north" || word == "east"
        if isPlaced, across % 2 == 1 || down % 2 == 1 {
            let x = word == "east" ? across : across / 2
            let y = word == "north" ? 0 : down / 2
            return ["-gravity", "northwest", "-extent", "\(box)+\(x)+\(y)"]
        }
        let isMoved = place != word
        let (x, y) = isMoved ? (min(3, across), min(5, down)) : (0, 0)
        return ["-gravity", word, "-extent", "\(box)+\(x)+\(y)"]
    }

    /// With a focus in pixels of the unscaled image, and by content.
    @Test func aFillKeepsWhatIsAtAPixel() throws {
        let source = Source(200, 100) { x, _, _ in x }
        let box = RelativeSize(width: .pixels(50), height: .pixels(50))
        for (place, middle) in [(20.0, 50.0), (120, 120), (190, 150)] {
            let result = try transform(source, [.resizeTo(box, .fill, .pixel(x: place, y: 0))])
            #expect(result.size == PixelSize(width: 50, height: 50))
            #expect(abs(Double(result.pixel(25, 25)[0]) - middle) <= 2)
        }
        let striking = try transform(source, [.resizeTo(box, .fill, .attention)])
        #expect(striking.size == PixelSize(width: 50, height: 50))
    }

    @Test(
        arguments: [
            ("50%x50%", 100, 50), ("300%x10%", 600, 10), ("0x50,fit", 100, 50),
            ("50x100%,stretch", 50, 100), ("400x400,fit", 200, 100),
            ("400x400,fit,enlarge", 400, 200), ("100%x100%,stretch,0x300", 600, 300),
            ("50x50,fit,80x0", 80, 40), ("50x50,fit,80x90", 180, 90),
            ("50x50,fill,80x90", 50, 50), ("50x100%,fill", 50, 100),
            ("400x100%,reshape", 200, 50), ("50x400,fit-turned,no-enlarge", 100, 50),
            ("10%x10%,stretch,30x0", 30, 15),
        ])
    func aResizeByNameHasItsSize(text: String, width: Int, height: Int) throws {
        let syntax = try #require(TransformStep.syntaxes.first { $0.name == "resize-to" })
        let step = try #require(syntax.parse(text))
        let result = try transform(.quarters(200, 100), [step])
        #expect(result.size == PixelSize(width: width, height: height))
        #expect(step.size(after: PixelSize(width: 200, height: 100)) == result.size)
    }

    @Test(arguments: [
        "50%", "50%x50%,letterbox", "0x0", "10001%x1%", "50x50,up", "50x50,fit,-1x0", "",
        "50x50,80x0,fit", "-5x5",
    ])
    func whatIsNoResizeByNameIsNone(text: String) throws {
        let syntax = try #require(TransformStep.syntaxes.first { $0.name == "resize-to" })
        #expect(syntax.parse(text) == nil)
    }

    @Test func ratiosAreCutAndPadded() throws {
        let source = Source(90, 40) { x, y, band in band == 0 ? x : y }
        func transformed(_ step: TransformStep) throws -> Transformed {
            try transform(source, [step])
        }
        let square = try transformed(
            .cropRatio(AspectRatio(width: 1, height: 1), .point(x: 1, y: 0)))
        #expect(square.size == PixelSize(width: 40, height: 40))
        #expect(square.pixel(0, 7) == [50, 7, 7])
        let moved = try transformed(
            .cropRatio(
                AspectRatio(width: 1, height: 1),
                .moved(x: 0, y: 0.5, by: GravityOffset(x: .percent(10), y: .pixels(9)))))
        #expect(moved.pixel(0, 7) == [9, 7, 7])
        let wide = try transformed(
            .cropRatio(AspectRatio(width: 9, height: 2), .pixel(x: 0, y: 25)))
        #expect(wide.size == PixelSize(width: 90, height: 20))
        #expect(wide.pixel(3, 0) == [3, 15, 15])
        let canvas = try transformed(
            .padRatio(AspectRatio(width: 1, height: 1), .pixel(x: 0, y: 60), .white))
        #expect(canvas.size == PixelSize(width: 90, height: 90))
        #expect(canvas.pixel(5, 39) == [255, 255, 255])
        #expect(canvas.pixel(5, 40) == [5, 0, 0])
        let low = try transformed(
            .pad(
                PixelSize(width: 100, height: 50),
                .moved(x: 1, y: 1, by: GravityOffset(x: .pixels(4), y: .percent(-50))), .white))
        #expect(low.pixel(6, 10) == [0, 0, 0])
        #expect(low.pixel(5, 10) == [255, 255, 255])
    }
}
