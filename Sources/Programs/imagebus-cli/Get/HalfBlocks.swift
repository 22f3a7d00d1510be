import Imagebus

/// An image of characters: each is two pixels, one above the other, in true colour. What is more
/// than half transparent shows the terminal.
struct HalfBlocks {
    private static let upper = Array("▀".utf8)
    private static let lower = Array("▄".utf8)
    private static let opaqueAlpha: UInt8 = 128

    private let pixels: FramePixels
    private var text: [UInt8] = []
    private var foreground: Int?
    private var background: Int?

    /// Lines, each with its end.
    static func lines(_ pixels: FramePixels) -> [UInt8] {
        var blocks = HalfBlocks(pixels)
        for row in 0..<rows(pixels) { blocks.addLine(2 * row) }
        return blocks.text
    }

    /// Lines of the terminal that it takes.
    static func rows(_ pixels: FramePixels) -> Int { (pixels.size.height + 1) / 2 }

    private init(_ pixels: FramePixels) { self.pixels = pixels }

    private mutating func addLine(_ y: Int) {
        for x in 0..<pixels.size.width { add(colour(x, y), colour(x, y + 1)) }
        text += Array("\u{1B}[0m\u{1B}[K\r\n".utf8)
        (foreground, background) = (nil, nil)
    }

    private mutating func add(_ top: Int?, _ bottom: Int?) {
        let wanted = top == nil ? nil : bottom
        if wanted != background {
            text += Array((wanted.map { "\u{1B}[48;2;\(Self.numbers($0))m" } ?? "\u{1B}[49m").utf8)
            background = wanted
        }
        guard let drawn = top ?? bottom else { return text.append(UInt8(ascii: " ")) }
        if drawn != foreground {
            text += Array("\u{1B}[38;2;\(Self.numbers(drawn))m".utf8)
            foreground = drawn
        }
        text += top == nil ? Self.lower : Self.upper
    }

    private static func numbers(_ colour: Int) -> String {
        "\(colour >> 16);\(colour >> 8 & 255);\(colour & 255)"
    }

    /// `nil` for what is not seen.
    private func colour(_ x: Int, _ y: Int) -> Int? {
        guard y < pixels.size.height else { return nil }
        let start = 4 * (y * pixels.size.width + x)
        guard pixels.rgba[start + 3] >= Self.opaqueAlpha else { return nil }
        return Int(pixels.rgba[start]) << 16 | Int(pixels.rgba[start + 1]) << 8
            | Int(pixels.rgba[start + 2])
    }
}
