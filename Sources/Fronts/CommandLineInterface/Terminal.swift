import Glibc
package import Linux
package import Model
import ProcessRuntime

/// Standard output and standard error, written without buffering.
///
/// Texts may contain untrusted input, so terminal control sequences are removed from them.
package enum Terminal {
    /// Writes a text to standard output. Returns false if the reader has closed it.
    @discardableResult
    package static func out(_ text: String) -> Bool { control(1, PlainText.lines(text)) }

    /// Prints the final output of a command. Returns the exit status: `status`, or, if that is 0
    /// and the output can't be written, the status for that error.
    package static func finish(_ command: String, _ text: String, status: Int32 = 0) -> Int32 {
        do throws(OutputError) {
            let bytes = Array(PlainText.lines(text).utf8)
            // A reference to `put` in place of the closure crashes the compiler (Swift 6.3.1).
            try bytes.span.bytes.withUnsafeBytes { (bytes) throws(OutputError) in
                try put(bytes)
            }
            return status
        } catch {
            let failure = fail(command, error)
            return status == 0 ? failure : status
        }
    }

    /// Writes bytes unchanged to standard output.
    package static func put(_ bytes: UnsafeRawBufferPointer) throws(OutputError) {
        do throws(Errno) {
            try FileDescriptor.writeAll(bytes, to: 1)
        } catch {
            throw OutputError(
                destination: OutputError.standardOutput, reason: error, wasOpened: true)
        }
    }

    @discardableResult
    package static func error(_ text: String) -> Bool { control(2, PlainText.lines(text)) }

    /// Prints a one-line error message for a command.
    package static func complain(_ command: String, _ reason: some CustomStringConvertible) {
        error("imagebus \(command): \(PlainText.line(reason.description))\n")
    }

    /// Writes a text that may contain our own control sequences, for instance to move the cursor.
    @discardableResult
    package static func control(_ descriptor: Int32, _ text: String) -> Bool {
        write(Array(text.utf8), to: descriptor)
    }

    @discardableResult
    package static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        bytes.withUnsafeBytes { (try? FileDescriptor.writeAll($0, to: descriptor)) != nil }
    }

    package static var errorIsTerminal: Bool { isatty(2) == 1 }
}

/// An error when writing a command's output.
package struct OutputError: Error, Hashable {
    /// The path, or `standardOutput`.
    package let destination: String
    package let reason: Errno
    /// Whether the destination was opened or created.
    package let wasOpened: Bool

    package init(destination: String, reason: Errno, wasOpened: Bool) {
        (self.destination, self.reason, self.wasOpened) = (destination, reason, wasOpened)
    }

    package static let standardOutput = "standard output"

    /// EX_CANTCREAT and EX_IOERR.
    package static let exitStatuses: (cannotCreate: Int32, cannotWrite: Int32) = (73, 74)
    /// The status that shells report for a program killed by SIGPIPE.
    package static let unreadStatus: Int32 = 141

    /// Whether the reader closed the output. This is not reported as an error.
    package var isUnread: Bool { reason == .brokenPipe }

    package var exitStatus: Int32 {
        if isUnread { return Self.unreadStatus }
        return wasOpened ? Self.exitStatuses.cannotWrite : Self.exitStatuses.cannotCreate
    }
}

extension OutputError: CustomStringConvertible {
    /// For instance, `outputFailed: /a/b.jpg cannot be written (ENOENT: …): create its directory
    /// first, or …`
    package var description: String { "\(Self.name): \(message)" }

    /// The name in messages, similar to an error code. It isn't one, because the error never leaves
    /// this process.
    package static let name = "outputFailed"

    package var message: String {
        "\(destination) cannot be \(wasOpened ? "written" : "created") (\(reason)): \(advice)"
    }

    private var advice: String {
        switch reason {
        case .noSuchFile: "create its directory first, or choose another file"
        case .isDirectory: "it is a directory; choose a file in it"
        case .notDirectory: "a part of the path is a file; choose another path"
        case .accessDenied, .notPermitted, .readOnlyFileSystem:
            "choose a file that user \(CurrentProcess.userID) can write"
        case .noSpace, .quotaExceeded, .fileTooLarge: "free some space, or write elsewhere"
        case .badDescriptor: "it is not open for writing; redirect it, or choose a file with -o"
        default: "write elsewhere"
        }
    }
}

/// Standard input, output and error, which may be closed when the program starts.
package enum StandardDescriptors {
    /// Opens closed standard descriptors so that no other file gets their numbers. They remain
    /// unusable: reading from or writing to them fails.
    package static func reserve() {
        for number in Int32(0)...2 where fcntl(number, F_GETFD) < 0 {
            // `open` returns the lowest free number, which is this one.
            _ = open("/dev/null", number == 0 ? O_WRONLY : O_RDONLY)
        }
    }

    /// Checks, before any work is done, whether standard output can be written.
    package static func checkOutput() throws(OutputError) {
        let flags = fcntl(1, F_GETFL)
        guard flags >= 0, flags & O_ACCMODE != O_RDONLY else {
            throw OutputError(
                destination: OutputError.standardOutput, reason: .badDescriptor, wasOpened: true)
        }
    }
}

/// The terminal that standard output is connected to.
package struct TerminalScreen: Hashable {
    /// The size in cells.
    package let columns, rows: Int
    /// The size of a cell in pixels.
    package let cellWidth, cellHeight: Int

    /// Creates a screen; 0 means unknown. The defaults are 80 × 24 cells of 8 × 16 pixels.
    package init(columns: Int, rows: Int, width: Int = 0, height: Int = 0) {
        self.columns = columns > 0 ? columns : 80
        self.rows = rows > 1 ? rows : 24
        cellWidth = width >= self.columns ? width / self.columns : 8
        cellHeight = height >= self.rows ? height / self.rows : 16
    }

    /// Returns the screen with the cell size reported by the terminal, if any.
    package func with(cell: PixelSize?) -> TerminalScreen {
        guard let cell else { return self }
        return TerminalScreen(
            columns: columns, rows: rows, width: columns * cell.width, height: rows * cell.height)
    }

    /// The current terminal; `nil` if standard output isn't a terminal.
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

/// Keyboard input from the terminal on standard input: unbuffered and without echo until this
/// object is released.
package final class TerminalKeys {
    private let before: termios

    /// Returns `nil` if standard input isn't a terminal.
    package init?() {
        var settings = termios()
        guard isatty(0) == 1, tcgetattr(0, &settings) == 0 else { return nil }
        before = settings
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
        tcsetattr(0, TCSANOW, &settings)
    }

    /// Discards pending input so that it isn't left for the next reader.
    deinit {
        var settings = before
        tcsetattr(0, TCSAFLUSH, &settings)
    }
}

/// A terminal's reply to a query of its capabilities.
package struct TerminalAnswer: Hashable {
    /// Whether it supports sixel graphics, indicated by 4 in its primary device attributes.
    package let hasSixels: Bool
    /// The size of a cell in pixels, if reported.
    package let cell: PixelSize?

    /// Queries the cell size (XTWINOPS 16) and then the attributes (DA1), which every terminal
    /// reports.
    private static let question = "\u{1B}[16t\u{1B}[c"
    /// The maximum length of a reply in bytes.
    private static let bytesMax = 1_024
    private static let cellSides = 1...1_024

    /// Parses a reply; returns `nil` if the attributes haven't arrived.
    package init?(_ text: [UInt8]) {
        let sequences = text.split(separator: 0x1B).compactMap(Self.sequence)
        guard let attributes = sequences.first(where: { $0.end == UInt8(ascii: "c") }) else {
            return nil
        }
        hasSixels = attributes.numbers.dropFirst().contains(4)
        let size = sequences.first { $0.end == UInt8(ascii: "t") && $0.numbers.first == 6 }
        let sides = size.map { Array($0.numbers.dropFirst()) } ?? []
        cell =
            sides.count == 2 && sides.allSatisfy(Self.cellSides.contains)
            ? PixelSize(width: sides[1], height: sides[0]) : nil
    }

    /// Queries the terminal on standard input and output, waiting at most one second. Returns `nil`
    /// if there is no terminal or it doesn't reply.
    package static func ask() -> TerminalAnswer? {
        guard isatty(1) == 1, let keys = TerminalKeys() else { return nil }
        defer { withExtendedLifetime(keys) {} }
        guard Terminal.control(1, question) else { return nil }
        let deadline = MonotonicClock.now() + 1_000_000_000
        var text: [UInt8] = []
        while text.count < bytesMax {
            let now = MonotonicClock.now()
            guard now < deadline else { return nil }
            var ready = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
            guard poll(&ready, 1, Int32((deadline - now) / 1_000_000) + 1) == 1 else { continue }
            var chunk = [UInt8](repeating: 0, count: 64)
            let count = read(0, &chunk, chunk.count)
            guard count > 0 else { return nil }
            text += chunk[..<count]
            if let answer = TerminalAnswer(text) { return answer }
        }
        return nil
    }

    /// Parses a sequence such as `[?62;4c`, ignoring anything after it.
    private static func sequence(_ text: ArraySlice<UInt8>) -> (numbers: [Int], end: UInt8)? {
        guard text.first == UInt8(ascii: "["),
            let end = text.dropFirst().firstIndex(where: { (0x40...0x7E).contains($0) })
        else { return nil }
        let parts = text[(text.startIndex + 1)..<end].split(separator: UInt8(ascii: ";"))
        let numbers = parts.map { part in
            let digits = part.drop { $0 == UInt8(ascii: "?") }
            return PlainNumber.integer(String(decoding: digits, as: UTF8.self)) ?? -1
        }
        return (numbers, text[end])
    }
}
