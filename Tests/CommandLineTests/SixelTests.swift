import CommandLineInterface
import Imagebus
import Model
import TestKit
import Testing

@testable import imagebus_cli

/// Sixels decoded by libsixel, and the replies of terminals to queries.
@Suite struct SixelTests {
    /// Colors that sixels represent exactly: percentages that are whole numbers in 8 bits.
    private static let grades: [UInt8] = [0, 51, 102, 153, 204, 255]
    private static let palette: [[UInt8]] = (0..<216).map { index in
        [grades[index / 36], grades[index / 6 % 6], grades[index % 6], 255]
    }

    private func image(_ width: Int, _ height: Int, _ index: (Int, Int) -> Int) -> IndexedPixels {
        IndexedPixels(
            size: PixelSize(width: width, height: height), palette: Self.palette,
            indexes: (0..<width * height).map { UInt8(index($0 % width, $0 / width)) })
    }

    /// The size and RGB, decoded by libsixel.
    private func read(_ text: [UInt8]) throws -> (size: String, rgb: [UInt8]) {
        let folder = TemporaryDirectory()
        let path = folder.write(text, to: "a.six")
        try Tool.run(["sixel2png", "-i", path, "-o", folder.file("a.png")])
        let script = """
            import sys
            from PIL import Image
            image = Image.open(sys.argv[1]).convert("RGB")
            sys.stdout.buffer.write(b"%dx%d\\n" % image.size + image.tobytes())
            """
        let output = try Tool.run(["python3", "-c", script, folder.file("a.png")])
        let line = output.prefix { $0 != 10 }
        return (String(decoding: line, as: UTF8.self), Array(output.dropFirst(line.count + 1)))
    }

    @Test(arguments: [(1, 1), (7, 6), (40, 13), (300, 17), (33, 30)])
    func anotherReaderSeesTheSamePixels(width: Int, height: Int) throws {
        // Long runs, single pixels, and columns of a single color.
        for kind in 0..<3 {
            let pixels = image(width, height) { x, y in
                switch kind {
                case 0: (x * 31 + y * 7) % 216
                case 1: (x / 20 + y / 5 * 3) % 216
                default: x < width / 2 ? 5 : (y % 2) * 215
                }
            }
            let found = try read(SixelImage.text(pixels))
            #expect(found.size == "\(width)x\(height)")
            let wanted = pixels.indexes.flatMap { Self.palette[Int($0)][..<3] }
            #expect(found.rgb == wanted, "kind \(kind)")
        }
    }

    @Test func colorThatIsNotSeenIsNotDrawn() {
        let pixels = IndexedPixels(
            size: PixelSize(width: 4, height: 7),
            palette: [[9, 9, 9, 127], [255, 0, 0, 255]],
            indexes: (0..<28).map { $0 % 4 == 3 ? 1 : 0 })
        #expect(SixelImage.hasHoles(pixels))
        #expect(!SixelImage.hasHoles(image(3, 3) { _, _ in 7 }))
        let text = String(decoding: SixelImage.text(pixels), as: UTF8.self)
        #expect(text == "\u{1B}P0;1q\"1;1;4;7#1;2;100;0;0#1???~-#1???@-\u{1B}\\")
    }

    /// 64 colors are kept, and each of 4,096 is replaced by a similar one. A pixel that is more than
    /// half transparent isn't drawn.
    @Test(arguments: [(8, 0), (1, 24)]) func upTo256ColorsStandForAll(side: Int, loss: Int) {
        var rgba = (0..<4_096).flatMap { place -> [UInt8] in
            let (x, y) = (place % 64 / side * side, place / 64 / side * side)
            return [UInt8(x * 4), UInt8(y * 4), 9, 128]
        }
        rgba[3] = 127
        let found = IndexedPixels(
            FramePixels(size: PixelSize(width: 64, height: 64), rgba: rgba))
        #expect(found.palette.count <= 256 && found.indexes.count == 4_096)
        let drawn = found.indexes.map { found.palette[Int($0)] }
        #expect(drawn[0][3] == 0 && drawn.dropFirst().allSatisfy { $0[3] == 255 })
        let differences = (1..<4_096).flatMap { place in
            (0..<3).map { abs(Int(drawn[place][$0]) - Int(rgba[4 * place + $0])) }
        }
        #expect(differences.allSatisfy { $0 <= loss })
    }

    @Test(
        arguments: [
            ("^[?62;4;22c", true, nil), ("^[?6c", false, nil), ("^[?1;2c", false, nil),
            ("^[?4c", false, nil), ("^[6;20;10t^[?65;1;4c", true, PixelSize(width: 10, height: 20)),
            ("q^[6;0;99999t^[?62c", false, nil), ("^[4;600;800t^[?62;4c", true, nil),
        ] as [(String, Bool, PixelSize?)])
    func anAnswerSaysWhatTheTerminalCanDo(text: String, sixels: Bool, cell: PixelSize?) throws {
        let bytes = Array(text.utf8).map { $0 == UInt8(ascii: "^") ? 0x1B : $0 }
        let answer = try #require(TerminalAnswer(bytes))
        #expect(answer.hasSixels == sixels)
        #expect(answer.cell == cell)
        #expect(TerminalAnswer(bytes.dropLast()) == nil, "the reply is incomplete")
        #expect(TerminalGraphics.of(answer) == (sixels ? .sixel : .blocks))
    }

    @Test func theTerminalIsAskedUnlessItIsKnown() {
        #expect(TerminalGraphics.known(["TERM": "xterm-kitty"]) == .kitty)
        #expect(TerminalGraphics.known(["TERM": "screen", "KITTY_WINDOW_ID": "1"]) == .kitty)
        #expect(TerminalGraphics.known(["TERM": "dumb"]) == .blocks)
        #expect(TerminalGraphics.known([:]) == .blocks)
        #expect(TerminalGraphics.known(["TERM": "xterm-256color"]) == nil)
        #expect(TerminalGraphics.of(nil) == .blocks)
    }
}
