import Glibc
package import ImageModel
package import Linux
import Observability

/// Standard output and standard error: whole texts, unbuffered.
///
/// Texts may quote what others wrote, so nothing in them controls a terminal.
package enum Terminal {
    /// False where nobody reads any more.
    @discardableResult
    package static func out(_ text: String) -> Bool { control(1, PlainText.lines(text)) }

    /// Prints what a command has to say at its end. The exit status: the one given, or where that
    /// is 0 and the text cannot be written, what follows from that.
    package static func finish(_ command: String, _ text: String, status: Int32 = 0) -> Int32 {
        do throws(OutputError) {
            try put(text)
            return status
        } catch {
            if !error.isUnread { complain(command, error) }
            return status == 0 ? error.exitStatus : status
        }
    }

    private static func put(_ text: String) throws(OutputError) {
        let bytes = Array(PlainText.lines(text).utf8)
        try bytes.span.bytes.withUnsafeBytes { (bytes) throws(OutputError) in
            try put(bytes)
        }
    }

    /// Writes bytes as they are to standard output.
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

    /// Says on one line why a command cannot go on.
    package static func complain(_ command: String, _ reason: some CustomStringConvertible) {
        error("imagebus \(command): \(PlainText.line(reason.description))\n")
    }

    /// Writes a text of ours that moves the cursor or wipes a line.
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

/// Output that a command was told to write and cannot.
package struct OutputError: Error, Hashable {
    /// The path, or `standardOutput`.
    package let destination: String
    package let reason: Errno
    /// Whether it came so far that there was something to write to.
    package let wasOpened: Bool

    package init(destination: String, reason: Errno, wasOpened: Bool) {
        (self.destination, self.reason, self.wasOpened) = (destination, reason, wasOpened)
    }

    package static let standardOutput = "standard output"

    /// EX_CANTCREAT, EX_IOERR.
    package static let exitStatuses: (cannotCreate: Int32, cannotWrite: Int32) = (73, 74)
    /// What a shell says of a program that SIGPIPE ended.
    package static let unreadStatus: Int32 = 141

    /// Whoever read the output wants no more of it. That is no failure to speak of.
    package var isUnread: Bool { reason == .brokenPipe }

    package var exitStatus: Int32 {
        if isUnread { return Self.unreadStatus }
        return wasOpened ? Self.exitStatuses.cannotWrite : Self.exitStatuses.cannotCreate
    }
}

extension OutputError: CustomStringConvertible {
    /// `outputFailed: /a/b.jpg cannot be written (ENOENT: …): make its directory first, or …`
    package var description: String { "\(Self.name): \(message)" }

    /// As in the table of errors, which it is not in: no other process knows of it.
    package static let name = "outputFailed"

    package var message: String {
        "\(destination) cannot be \(wasOpened ? "written" : "created") (\(reason)): \(advice)"
    }

    private var advice: String {
        switch reason {
        case .noSuchFile: "make its directory first, or name another file"
        case .isDirectory: "it is a directory; name a file in it"
        case .notDirectory: "a part of the path is a file; name another one"
        case .accessDenied, .notPermitted, .readOnlyFileSystem:
            "name a file where user \(CurrentProcess.userID) may write"
        case .noSpace, .quotaExceeded, .fileTooLarge: "make room there, or write elsewhere"
        case .badDescriptor: "it is not open for writing; redirect it, or name a file with -o"
        default: "write elsewhere"
        }
    }
}

/// Standard input, output and error, which whoever started the program may have closed.
package enum StandardDescriptors {
    /// Takes the places of those that are closed, before anything else that is opened gets their
    /// numbers; they stay unusable: what is written there or read from there fails.
    package static func reserve() {
        for number in Int32(0)...2 where fcntl(number, F_GETFD) < 0 {
            // The lowest number that is free is this one.
            _ = open("/dev/null", number == 0 ? O_WRONLY : O_RDONLY)
        }
    }

    /// Finds before the work what would keep standard output from being written.
    package static func checkOutput() throws(OutputError) {
        let flags = fcntl(1, F_GETFL)
        guard flags >= 0, flags & O_ACCMODE != O_RDONLY else {
            throw OutputError(
                destination: OutputError.standardOutput, reason: .badDescriptor, wasOpened: true)
        }
    }
}

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

/// What a terminal answers when it is asked what it can do.
package struct TerminalAnswer: Hashable {
    /// Whether it draws sixels: the 4 among its primary device attributes.
    package let hasSixels: Bool
    /// Pixels of a cell, where it says them.
    package let cell: PixelSize?

    /// A cell (XTWINOPS 16), and then the attributes (DA1), which every terminal answers.
    private static let question = "\u{1B}[16t\u{1B}[c"
    /// Bytes of an answer at most.
    private static let bytesMax = 1_024
    private static let cellSides = 1...1_024

    /// Reads an answer; `nil` where the attributes have not come.
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

    /// Asks the terminal that standard input and output are, and waits a second at most; `nil`
    /// where there is none, and where it does not answer.
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

    /// `[?62;4c`, without what may stand behind it.
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
