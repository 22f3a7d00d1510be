import Model
import Testing
import Vips

/// ThumbHashes compared with those of `rgbaToThumbHash` from github.com/evanw/thumbhash
/// (js/thumbhash.js) for the same pixels, run by Node.
@Suite struct ThumbHashTests {
    @Test(arguments: [
        (FormulaImage.gradient, "2xgOHJpgdndwiHiGeIb0lg/3iA=="),
        (.tall, "m0cOYgxAYnmHd3d3U2/3cnM="),
        (.square, "XBgGJw4BK1l1d3d2d1h3Z4d3FKC3/XYH"),
        (.gray, "HAgaBIBwd3eIiIiIiHgAAAAAAA=="),
        (.veiled, "51mGJQYls4ewiId3eJVP+HF4cHd4eIeIdw=="),
        (.clear, "AAiCBIAAAAAAAAAAAAAAAAAAAAAAAAAAAA=="),
    ])
    func itIsThatOfItsAuthor(image: FormulaImage, hash: String) throws {
        let bytes = try image.png(bands: 4)
        #expect(try properties(of: bytes, RequestedProperties(.thumbHash)).thumbHash == hash)
    }

    /// A large image has the hash of its reduction, which is known in advance if the image has one
    /// color.
    @Test(arguments: [(1_200, 800), (101, 2_000)])
    func aLargeImageIsMadeSmallerFirst(width: Int, height: Int) throws {
        let bytes = try Sources.encoded(.png(compression: 1), width, height, bands: 4) { _, _, _ in
            200
        }
        let (columns, rows) = width > height ? (100, 67) : (5, 100)
        let small = try Sources.encoded(.png(compression: 1), columns, rows, bands: 4) { _, _, _ in
            200
        }
        let wanted = RequestedProperties(.thumbHash)
        #expect(try properties(of: bytes, wanted) == properties(of: small, wanted))
    }
}
