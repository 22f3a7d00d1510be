import ImageModel
import Messages
import Testing

@testable import ImagebusWorker

@Suite struct PixelFormTests {
    @Test func bytesAreCountedWithoutOverflow() {
        #expect(PixelForm(width: 5, height: 3, bands: .rgba).byteCount == 60)
        #expect(PixelForm(width: 0, height: 3, bands: .rgb).byteCount == nil)
        #expect(PixelForm(width: -5, height: -3, bands: .rgb).byteCount == nil)
        #expect(PixelForm(width: .max, height: 2, bands: .grey).byteCount == nil)
        #expect(PixelForm(width: .max / 2, height: 1, bands: .rgba).byteCount == nil)
    }

    @Test(arguments: PixelForm.Bands.allCases)
    func aLayoutHasTheBytesOfTheForm(bands: PixelForm.Bands) {
        let form = PixelForm(width: 7, height: 2, bands: bands)
        #expect(form.layout().byteCount == form.byteCount)
        #expect(form.layout(at: 128).byteCount == 128 + 14 * bands.rawValue)
    }

    /// Each limit by itself, and the first number beyond it.
    @Test(arguments: [
        ("side", PixelForm(width: 101, height: 1, bands: .grey)),
        ("side", PixelForm(width: 1, height: 101, bands: .grey)),
        ("pixels", PixelForm(width: 91, height: 11, bands: .grey)),
        ("bytes", PixelForm(width: 100, height: 10, bands: .rgb)),
    ])
    func whatIsBeyondALimitIsRefused(limit: String, form: PixelForm) {
        let limits = ImageLimits(sideMax: 100, pixelsMax: 1_000, pixelBytesMax: 2_000)
        let error = #expect(throws: AuthorError.self) { try form.check(against: limits) }
        guard case .error(let error) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error.code == .limitExceeded && error.details == ["limit": limit])
    }

    @Test func whatIsAtTheLimitsIsDecoded() throws {
        let limits = ImageLimits(sideMax: 100, pixelsMax: 1_000, pixelBytesMax: 2_000)
        let form = PixelForm(width: 100, height: 10, bands: .greyAlpha)
        #expect(try form.check(against: limits) == 2_000)
    }

    @Test func aSizeThatIsNoneIsTheFault() {
        #expect(throws: AuthorError.invalid("its header makes no sense")) {
            try PixelForm(width: 0, height: 4, bands: .rgb).check(against: ImageLimits())
        }
    }
}
