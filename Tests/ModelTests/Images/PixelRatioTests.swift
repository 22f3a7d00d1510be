import Testing

@testable import Model

@Suite struct PixelRatioTests {
    private func size(_ width: Int, _ height: Int) -> PixelSize {
        PixelSize(width: width, height: height)
    }

    private func steps(_ steps: [TransformStep], by ratio: Double) -> [TransformStep] {
        var request = ImageRequest(url: "http://h/a.png")
        request.steps = steps
        request.pixelRatio = ratio
        request.applyPixelRatio()
        #expect(request.pixelRatio == 1)
        return request.steps
    }

    private var rect: TransformStep { .crop(PixelRect(x: 3, y: -4, size: size(5, 7))) }

    @Test func pixelsOfTheSourceStayAndThoseOfTheResultAreMultiplied() {
        let pixels: [TransformStep] = [
            .resize(size(30, 0), .fit), rect,
            .cropTo(.init(width: .pixels(9), height: .percent(50)), .center),
            .pad(size(40, 41), .center, .white), .round(radius: 2.5, border: 1, .white),
            .extend(Margins(left: 1, top: 2, right: 3, bottom: 4), .mirror), .blur(radius: 3),
            .sharpen(radius: 1, amount: 3), .pixelate(3),
            .overlay(Overlay(url: "http://h/m", x: -3, y: 5, opacity: 0.5)),
            .overlay(
                Overlay(
                    url: "http://h/m", gravity: .center, size: RelativeSize("7x50%"), repeats: true,
                    mode: .screen)),
            .flip(horizontal: true, vertical: false), .gamma(2),
        ]
        #expect(
            steps([rect, .blur(radius: 3)] + pixels, by: 2) == [
                rect, .blur(radius: 3), .resize(size(60, 0), .fit),
                .crop(PixelRect(x: 6, y: -8, size: size(10, 14))),
                .cropTo(.init(width: .pixels(18), height: .percent(50)), .center),
                .pad(size(80, 82), .center, .white), .round(radius: 5, border: 2, .white),
                .extend(Margins(left: 2, top: 4, right: 6, bottom: 8), .mirror),
                .blur(radius: 6), .sharpen(radius: 2, amount: 3), .pixelate(6),
                .overlay(Overlay(url: "http://h/m", x: -6, y: 10, opacity: 0.5)),
                .overlay(
                    Overlay(
                        url: "http://h/m", gravity: .center, size: RelativeSize("14x50%"),
                        repeats: true, mode: .screen)),
                .flip(horizontal: true, vertical: false), .gamma(2),
            ])
    }

    @Test func aThumbnailIsAResize() {
        var request = ImageRequest(url: "http://h/a.png")
        request.thumbnail = Thumbnail(box: size(3, 1))
        request.steps = [rect]
        request.pixelRatio = 0.25
        request.applyPixelRatio()
        // No side becomes 0.
        #expect(request.thumbnail?.box == size(1, 1))
        #expect(request.steps == [.crop(PixelRect(x: 1, y: -1, size: size(1, 2)))])
    }

    @Test(arguments: [0, 0.09, 10.1, -2, .infinity, .nan])
    func aRatioBeyondTheLimitsIsLeftToBeRefused(ratio: Double) {
        var request = ImageRequest(url: "http://h/a.png")
        request.steps = [.resize(size(3, 3), .fit)]
        request.pixelRatio = ratio
        request.applyPixelRatio()
        #expect(request.pixelRatio != 1)
        #expect(request.steps == [.resize(size(3, 3), .fit)])
    }

    /// Sizes beyond all limits don't overflow.
    @Test func hostileSizesStayHostile() {
        let huge = steps([.resize(size(.max, .min), .fit)], by: 10)
        #expect(huge == [.resize(size(Int(Int32.max), -Int(Int32.max)), .fit)])
        #expect(throws: ImageError.self) { try huge[0].form.check(pixelsMax: 1_000) }
    }

    @Test func theKeyIsThatOfThePixels() {
        #expect(
            steps([.resize(size(100, 100), .fill)], by: 2).map(\.key)
                == ["SDImageResizingTransformer({200.000000,200.000000},2)"])
    }
}
