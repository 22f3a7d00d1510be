import CommandLineInterface
import Imagebus
import Model
import Testing

@testable import imagebus_cli

/// The bytes written to a terminal.
@Suite struct ShownImageTests {
    private func pixels(_ width: Int, _ colors: [[UInt8]]) -> FramePixels {
        FramePixels(
            size: PixelSize(width: width, height: colors.count / width),
            rgba: Array(colors.joined()))
    }

    private func text(_ pixels: FramePixels) -> String {
        String(decoding: HalfBlocks.lines(pixels), as: UTF8.self)
            .replacing("\u{1B}", with: "^")
    }

    private let red: [UInt8] = [255, 0, 0, 255]
    private let blue: [UInt8] = [0, 0, 254, 255]
    private let nothing: [UInt8] = [9, 9, 9, 127]
    private let end = "^[0m^[K\r\n"

    @Test func twoPixelsAreOneCharacterAndColorsAreSaidOnce() {
        #expect(
            text(pixels(2, [red, red, blue, blue]))
                == "^[48;2;0;0;254m^[38;2;255;0;0m▀▀" + end)
    }

    @Test func whatIsTransparentShowsTheTerminal() {
        #expect(
            text(pixels(3, [red, nothing, nothing, nothing, blue, nothing]))
                == "^[38;2;255;0;0m▀^[38;2;0;0;254m▄ " + end)
    }

    @Test func theLastRowOfAnOddNumberHasNothingBelow() {
        let image = pixels(1, [red, blue, red])
        #expect(HalfBlocks.rows(image) == 2)
        #expect(
            text(image) == "^[48;2;0;0;254m^[38;2;255;0;0m▀" + end + "^[38;2;255;0;0m▀" + end)
    }

    @Test func kittyGetsPiecesOfBase64() {
        let png = [UInt8](repeating: 0, count: 6_000)
        let text = String(decoding: KittyImage.text(png: png, number: 7), as: UTF8.self)
        let chunks = text.split(separator: "\u{1B}\\")
        #expect(chunks.count == 2)
        #expect(chunks[0].hasPrefix("\u{1B}_Ga=T,f=100,i=7,p=1,C=1,q=2,m=1;AAAA"))
        #expect(chunks[1].hasPrefix("\u{1B}_Gq=2,m=0;AAAA"))
        #expect(chunks.map { $0.split(separator: ";")[1].count } == [4_096, 3_904])
    }

    @Test func aScreenOfUnknownSizeHasTheUsualOne() {
        let unknown = TerminalScreen(columns: 0, rows: 0)
        #expect((unknown.columns, unknown.rows) == (80, 24))
        #expect((unknown.cellWidth, unknown.cellHeight) == (8, 16))
        let known = TerminalScreen(columns: 100, rows: 50, width: 1_000, height: 1_000)
        #expect((known.cellWidth, known.cellHeight) == (10, 20))
    }
}
