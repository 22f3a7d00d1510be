import Model
import TestKit
import Testing

/// Files from bug reports, with the colors drawn by Chromium 156 at a quarter and three quarters of
/// the width and height.
@Suite(.enabled(if: Fixtures.folder != nil, "needs IMAGEBUS_FIXTURES"))
struct ReportedColorTests {
    @Test(arguments: [
        ("rgb_grayprof.jpg", [[220, 30, 40], [19, 200, 59]]),
        ("avif_p3_444.avif", [[240, 0, 22], [0, 205, 7]]),
        ("cicp_p3.png", [[240, 0, 22], [0, 204, 13]]),
        ("sample-xyb.jpg", [[85, 85, 110], [158, 151, 129]]),
        ("iec_rotated.jpg", [[40, 220, 30], [59, 19, 200]]),
        ("ico1.ico", [[0, 255, 0], [40, 239, 90]]),
        ("cur.cur", [[50, 100, 200], [50, 100, 200]]),
        ("rgb16-565pal.bmp", [[189, 255, 255], [255, 255, 58]]),
        ("pal8os2sp.bmp", [[153, 255, 255], [255, 255, 51]]),
        ("gama1.png", [[239, 96, 110], [79, 229, 133]]),
    ])
    func colorsAreThoseOfABrowser(name: String, pixels: [[Int]]) throws {
        let decoded = try decode(Fixtures.read("reports/\(name)"))
        let size = decoded.image.info.size
        for (part, wanted) in zip([1, 3], pixels) {
            let pixel = try decoded.pixel(size.width * part / 4, size.height * part / 4)
            #expect(zip(pixel, wanted).allSatisfy { abs(Int($0) - $1) <= 3 }, "\(pixel)")
        }
    }
}
