import CommandLineInterface
import ImageModel
import Imagebus
import Linux

/// Frames that are drawn at one place of the terminal, one over the other.
final class ShownFrames {
    private let screen: TerminalScreen
    private let graphics: TerminalGraphics
    private let number = UInt32(truncatingIfNeeded: Random.uint64()) | 1
    /// Lines of the last frame; 0 before the first one.
    private var rows = 0

    /// The cursor is not seen until this goes.
    init(_ screen: TerminalScreen, _ graphics: TerminalGraphics) {
        (self.screen, self.graphics) = (screen, graphics)
        Terminal.control(1, "\u{1B}[?25l")
    }

    deinit { Terminal.control(1, "\u{1B}[?25h") }

    /// As what frames are needed.
    var form: FrameForm { graphics == .blocks ? .pixels : .encoded }

    /// As what they are encoded.
    var output: OutputOptions {
        var output = OutputOptions(format: .png)
        if graphics == .sixel { output.colours = 256 }
        return output
    }

    /// Pixels that have room; the last line is the cursor's. Sixels come in bands of six.
    var room: PixelSize {
        let lines = screen.rows - 1
        let (width, height) = (screen.columns * screen.cellWidth, lines * screen.cellHeight)
        switch graphics {
        case .kitty: return PixelSize(width: width, height: height)
        case .sixel: return PixelSize(width: width, height: max(6, height / 6 * 6))
        case .blocks: return PixelSize(width: screen.columns, height: 2 * lines)
        }
    }

    /// Draws it over the one before; false where nobody reads any more. Throws where the frame
    /// cannot be read.
    func draw(_ frame: AnimationFrame) throws(ImageError) -> Bool {
        if let pixels = frame.pixels {
            let text = HalfBlocks.lines(pixels)
            let up = rows > 0 ? "\u{1B}[\(rows)A\r" : ""
            rows = HalfBlocks.rows(pixels)
            return Terminal.write(Array(up.utf8) + text, to: 1)
        }
        guard let response = frame.response, let bytes = response.bytes else { return true }
        let height = response.info?.size.height ?? room.height
        guard graphics == .sixel else {
            return draw(height, KittyImage.text(png: bytes.array, number: number))
        }
        let pixels = try bytes.withUnsafeBytes { (bytes) throws(ImageError) in
            try IndexedPixels(png: bytes)
        }
        // What is transparent would show the frame before.
        let clear = rows > 0 && SixelImage.hasHoles(pixels) ? Array("\u{1B}[J".utf8) : []
        // Terminals leave the cursor at several places below an image.
        return draw(
            height,
            clear + Array("\u{1B}7".utf8) + SixelImage.text(pixels) + Array("\u{1B}8".utf8))
    }

    /// Draws an image of so many rows of pixels, and goes to the line below.
    private func draw(_ height: Int, _ image: [UInt8]) -> Bool {
        // Lines are made before: what is drawn at the last one would be moved.
        let space = rows > 0 ? "" : String(repeating: "\n", count: lines(height))
        let up = rows > 0 ? rows : lines(height)
        rows = lines(height)
        return Terminal.write(
            Array("\(space)\u{1B}[\(up)A\r".utf8) + image + Array("\u{1B}[\(rows)B\r".utf8), to: 1)
    }

    private func lines(_ height: Int) -> Int {
        (height + screen.cellHeight - 1) / screen.cellHeight
    }
}
