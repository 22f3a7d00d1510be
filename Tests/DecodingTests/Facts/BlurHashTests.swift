import Model
import TestKit
import Testing

/// BlurHashes compared with those of PyPI's `blurhash` 1.1.5 for the same pixels:
/// `blurhash.encode(rows, components_x=X, components_y=Y)`.
@Suite struct BlurHashTests {
    private static let four = PixelSize(width: 4, height: 3)
    private static let one = PixelSize(width: 1, height: 1)
    private static let nine = PixelSize(width: 9, height: 9)
    private static let odd = PixelSize(width: 2, height: 5)

    @Test(arguments: [
        (FormulaImage.gradient, four, "LxH24W2lwtX3qdWVjwfAgFfmfTfg"),
        (.gradient, one, "00H24W"), (.gradient, odd, "bxH24W2lqdWVgFfms9Wse.fR"),
        (.tall, four, "LtHKhlDt9{%xoUJPweoHb1a}sUSN"),
        (
            .tall, nine,
            "|tHKhlDt9{%xQtpHaNnVX$oUJPweoHNvw[S3n#bGb1a}sUSNsUfRSMsVSMobWVazj?n*W.n*jZSfa{a|o1Wp"
                + "a|o1Wpjto1ofa#WWoLWWbHn*WXj@SKo0a|a{o1a{jta{jtofjbWWoLazbHjaa#j@jrWojtjsWpo0a|a{"
                + "jt"
        ),
        (.square, four, "LbG[yYQIQtU9Sbf7azSfjpa|a|a|"), (.square, odd, "bbG[yYQISbf7jpa|j.f7jpa|"),
        (.gray, four, "LlFr;X00xuofxuRjj[j[fQfQfQfQ"),
        (.dot, four, "L~1JlBl#l#l#l#l#l#l#l#l#l#l#"),
    ])
    func itIsThatOfItsAuthors(image: FormulaImage, components: PixelSize, hash: String) throws {
        let wanted = RequestedProperties(.blurHash, blurHash: components)
        #expect(try properties(of: image.png(bands: 3), wanted).blurHash == hash)
    }

    /// Four by three components by default.
    @Test func theUsualOneHasFourByThreeComponents() throws {
        let hash = try properties(
            of: FormulaImage.gradient.png(bands: 3), RequestedProperties(.blurHash))
        #expect(hash.blurHash == "LxH24W2lwtX3qdWVjwfAgFfmfTfg")
    }

    /// The reference is an image without alpha that has the same pixels over white.
    @Test func whatIsTransparentIsLaidOverWhite() throws {
        let image = FormulaImage.veiled
        let flat = FormulaImage("flat", image.width, image.height) { x, y in
            let pixel = image.pixel(x, y).map { $0 % 256 }
            return pixel.prefix(3).map { sample in
                Int((Double(sample * pixel[3] + 255 * (255 - pixel[3])) / 255).rounded())
            }
        }
        let wanted = RequestedProperties(.blurHash)
        let hash = try properties(of: flat.png(bands: 3), wanted).blurHash
        #expect(try properties(of: image.png(bands: 4), wanted).blurHash == hash)
        #expect(hash?.utf8.count == 28)
    }

    /// For the photograph scaled to 100 × 82 pixels by Pillow 13.0 with Lanczos:
    /// `LCDuVs=|0#58Iq-U%1kWV@%1-pxu`. Another scaling may change a component by one step.
    @Test(.enabled(if: Fixtures.folder != nil, "needs IMAGEBUS_FIXTURES"))
    func aPhotographHasTheHashOfItsReduction() throws {
        let bytes = try Fixtures.read("photos/photo-2725x2225.jpg")
        let hash = try #require(try properties(of: bytes, RequestedProperties(.blurHash)).blurHash)
        let (found, wanted) = (Self.grades(hash), Self.grades("LCDuVs=|0#58Iq-U%1kWV@%1-pxu"))
        #expect(found.count == wanted.count)
        #expect(zip(found, wanted).allSatisfy { abs($0 - $1) <= 1 }, "\(hash)")
    }

    /// The scale, the bytes of the mean, and the quantized value of each component.
    private static func grades(_ hash: String) -> [Int] {
        let letters = Array(
            "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~"
                .utf8)
        let digits = hash.utf8.map { letters.firstIndex(of: $0) ?? 0 }
        let mean = digits[2..<6].reduce(0) { $0 * 83 + $1 }
        let others = stride(from: 6, to: digits.count, by: 2).flatMap { place -> [Int] in
            let value = digits[place] * 83 + digits[place + 1]
            return [value / 361, value / 19 % 19, value % 19]
        }
        return [digits[1], mean >> 16, mean >> 8 & 255, mean & 255] + others
    }
}
