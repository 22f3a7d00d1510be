import CommandLineInterface
import ImageModel
import Imagebus
import Linux

/// Frames that are drawn at one place of the terminal, one over the other.
final class ShownFrames {
    private let screen: TerminalScreen
    private let isKitty: Bool
    private let number = UInt32(truncatingIfNeeded: Random.uint64()) | 1
    /// Lines of the last frame; 0 before the first one.
    private var rows = 0

    /// The cursor is not seen until this goes.
    init(_ screen: TerminalScreen, isKitty: Bool) {
        (self.screen, self.isKitty) = (screen, isKitty)
        Terminal.control(1, "\u{1B}[?25l")
    }

    deinit { Terminal.control(1, "\u{1B}[?25h") }

    /// As what frames are needed.
    var form: FrameForm { isKitty ? .encoded : .pixels }

    /// Pixels that have room; the last line is the cursor's.
    var room: PixelSize {
        let lines = screen.rows - 1
        return isKitty
            ? PixelSize(width: screen.columns * screen.cellWidth, height: lines * screen.cellHeight)
            : PixelSize(width: screen.columns, height: 2 * lines)
    }

    /// Draws it over the one before; false where nobody reads any more.
    func draw(_ frame: AnimationFrame) -> Bool {
        let up = rows > 0 ? "\u{1B}[\(rows)A\r" : ""
        if let pixels = frame.pixels {
            rows = HalfBlocks.rows(pixels)
            return Terminal.write(Array(up.utf8) + HalfBlocks.lines(pixels), to: 1)
        }
        guard let response = frame.response, let bytes = response.bytes else { return true }
        let height = response.info?.size.height ?? room.height
        // Lines are made before: what is drawn at the last one would be moved.
        let space = String(repeating: "\n", count: rows > 0 ? 0 : lines(height))
        rows = lines(height)
        let before = up.isEmpty ? space + "\u{1B}[\(rows)A\r" : up
        return Terminal.write(
            Array(before.utf8) + KittyImage.text(png: bytes.array, number: number)
                + Array("\u{1B}[\(rows)B\r".utf8), to: 1)
    }

    private func lines(_ height: Int) -> Int {
        (height + screen.cellHeight - 1) / screen.cellHeight
    }
}
