import Model
import Testing

@testable import ImagebusWorker

@Suite struct PixelFormTests {
    @Test func bytesAreCountedWithoutOverflow() {
        #expect(PixelForm(width: 5, height: 3, bands: .rgba).byteCount == 60)
        #expect(PixelForm(width: 0, height: 3, bands: .rgb).byteCount == nil)
        #expect(PixelForm(width: -5, height: -3, bands: .rgb).byteCount == nil)
        #expect(PixelForm(width: .max, height: 2, bands: .gray).byteCount == nil)
        #expect(PixelForm(width: .max / 2, height: 1, bands: .rgba).byteCount == nil)
    }

    @Test(arguments: PixelForm.Bands.allCases)
    func aLayoutHasTheBytesOfTheForm(bands: PixelForm.Bands) {
        let form = PixelForm(width: 7, height: 2, bands: bands)
        #expect(form.layout().byteCount == form.byteCount)
        #expect(form.layout(at: 128).byteCount == 128 + 14 * bands.rawValue)
    }
}
