import Glibc
package import ImageModel

/// The terminal that standard output is.
package struct TerminalScreen: Hashable {
    /// Cells.
    package let columns, rows: Int
    /// Pixels of a cell.
    package let cellWidth, cellHeight: Int

    /// Takes 0 for what is not known: 80 by 24 cells of 8 by 16 pixels.
    package init(columns: Int, rows: Int, width: Int = 0, height: Int = 0) {
        self.columns = columns > 0 ? columns : 80
        self.rows = rows > 1 ? rows : 24
        cellWidth = width >= self.columns ? width / self.columns : 8
        cellHeight = height >= self.rows ? height / self.rows : 16
    }

    /// The same with cells of the size that the terminal says, where it does.
    package func with(cell: PixelSize?) -> TerminalScreen {
        guard let cell else { return self }
        return TerminalScreen(
            columns: columns, rows: rows, width: columns * cell.width, height: rows * cell.height)
    }

    /// `nil` where standard output is no terminal.
    package static var current: TerminalScreen? {
        guard isatty(1) == 1 else { return nil }
        var size = winsize()
        let isKnown = ioctl(1, UInt(TIOCGWINSZ), &size) == 0
        guard isKnown else { return TerminalScreen(columns: 0, rows: 0) }
        return TerminalScreen(
            columns: Int(size.ws_col), rows: Int(size.ws_row), width: Int(size.ws_xpixel),
            height: Int(size.ws_ypixel))
    }
}

/// Keys of the terminal that standard input is: each can be read at once, and none is echoed, until
/// this goes.
package final class TerminalKeys {
    private let before: termios

    /// `nil` where standard input is no terminal.
    package init?() {
        var settings = termios()
        guard isatty(0) == 1, tcgetattr(0, &settings) == 0 else { return nil }
        before = settings
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
        tcsetattr(0, TCSANOW, &settings)
    }

    /// What was typed meanwhile is not left for whoever reads next.
    deinit {
        var settings = before
        tcsetattr(0, TCSAFLUSH, &settings)
    }
}
