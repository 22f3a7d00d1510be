import Model
import TestKit
import Testing

@Suite struct DecodeScaleTests {
    private static let photo = PixelSize(width: 2_725, height: 2_225)
    private static let parts = DecodeScales.parts([1, 2, 4, 8])

    private func scale(
        _ width: Int, _ height: Int, _ mode: ResizeMode, of source: PixelSize,
        _ scales: DecodeScales
    ) -> DecodeScale {
        DecodeNeed.cover(PixelSize(width: width, height: height), mode)
            .scale(for: source, of: scales)
    }

    @Test func aScaleIsInLowestTerms() {
        #expect(DecodeScale(6, over: 8) == DecodeScale(3, over: 4))
        #expect(DecodeScale(8, over: 2) == DecodeScale(4, over: 1))
        #expect(DecodeScale(3, over: 4).value == 0.75)
        #expect(DecodeScale(1, over: 3) < DecodeScale(2, over: 5))
        #expect(!(DecodeScale(2, over: 4) < DecodeScale(1, over: 2)))
    }

    @Test func aPartOfAPixelIsOne() {
        #expect(DecodeScale(1, over: 4).size(Self.photo) == PixelSize(width: 682, height: 557))
        #expect(DecodeScale(1, over: 8).side(8) == 1)
        #expect(DecodeScale(1, over: 8).side(9) == 2)
        #expect(DecodeScale(3, over: 2).side(3) == 5)
        let most = Int(Int32.max)
        #expect(DecodeScale(most, over: 1).side(most) == most * most)
    }

    /// libvips aborts when it is asked for an image without pixels.
    @Test func noSideIsLeftWithoutAPixel() {
        let thin = PixelSize(width: 10_000, height: 3)
        #expect(scale(10, 10, .fit, of: thin, Self.parts) == DecodeScale(1, over: 2))
        #expect(scale(341, 279, .stretch, of: Self.photo, Self.parts) == DecodeScale(1, over: 8))
        let pixel = PixelSize(width: 1, height: 1)
        #expect(scale(1, 1, .fit, of: pixel, Self.parts) == .whole)
    }

    @Test func aDecoderThatHasNoScaleMakesEveryPixel() {
        #expect(scale(1, 1, .fit, of: Self.photo, .whole) == .whole)
        for scales in [DecodeScales.whole, Self.parts, .any] {
            #expect(DecodeNeed.full.scale(for: Self.photo, of: scales) == .whole)
            #expect(DecodeNeed.header.scale(for: Self.photo, of: scales) == .whole)
        }
    }

    /// A drawing is rendered at the needed size, even above its own size and in modes that never
    /// enlarge images.
    @Test(
        arguments: [
            (100, 100, .fit, 1, 2), (400, 100, .fill, 2, 1), (50, 100, .stretch, 1, 1),
            (300, 300, .letterbox, 3, 2), (400, 400, .fit, 2, 1), (7, 7, .fill, 7, 100),
        ] as [(Int, Int, ResizeMode, Int, Int)])
    func aDecoderOfEveryScaleTakesTheExactOne(
        width: Int, height: Int, mode: ResizeMode, numerator: Int, denominator: Int
    ) {
        let drawing = PixelSize(width: 200, height: 100)
        let scale = scale(width, height, mode, of: drawing, .any)
        #expect(scale == DecodeScale(numerator, over: denominator, rounds: true))
    }

    /// With each kind of decoder the result has the needed columns and rows, as far as the source
    /// has them; a drawing that keeps its ratio has no more than that.
    @Test func whatIsDecodedAlwaysCovers() {
        var random = SeededGenerator(seed: 16)
        for _ in 0..<5_000 {
            let numbers = (0..<4).map { _ in Int.random(in: 1...5_000, using: &random) }
            let source = PixelSize(width: numbers[0], height: numbers[1])
            let box = PixelSize(width: numbers[2], height: numbers[3])
            for mode in ResizeMode.allCases {
                let wanted = ResizeGeometry(source: source, box: box, mode: mode).scaled
                let need = DecodeNeed.cover(box, mode)
                let part = need.scale(for: source, of: Self.parts).size(source)
                #expect(part.width >= min(wanted.width, source.width))
                #expect(part.height >= min(wanted.height, source.height))
                let drawn = ResizeGeometry(
                    source: source, box: box, mode: mode, enlarges: true
                ).scaled
                let exact = need.scale(for: source, of: .any).size(source)
                #expect(exact.width >= drawn.width && exact.height >= drawn.height)
                let isReshaped = mode == .stretch || mode == .reshape
                #expect(exact == drawn || isReshaped, "\(source) in \(box), \(mode)")
                #expect(exact.width == drawn.width || exact.height == drawn.height)
            }
        }
    }
}
