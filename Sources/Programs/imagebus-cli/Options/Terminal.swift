import Glibc
import Linux
import Observability

/// Standard output and standard error: whole texts, unbuffered.
///
/// Texts may quote what others wrote, so nothing in them controls a terminal.
enum Terminal {
    /// False where nobody reads any more.
    @discardableResult
    static func out(_ text: String) -> Bool { control(1, PlainText.lines(text)) }

    @discardableResult
    static func error(_ text: String) -> Bool { control(2, PlainText.lines(text)) }

    /// Says on one line why a command cannot go on.
    static func complain(_ command: String, _ reason: some CustomStringConvertible) {
        error("imagebus \(command): \(PlainText.line(reason.description))\n")
    }

    /// Writes a text of ours that moves the cursor or wipes a line.
    @discardableResult
    static func control(_ descriptor: Int32, _ text: String) -> Bool {
        write(Array(text.utf8), to: descriptor)
    }

    @discardableResult
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        bytes.withUnsafeBytes { (try? FileDescriptor.writeAll($0, to: descriptor)) != nil }
    }

    static var errorIsTerminal: Bool { isatty(2) == 1 }
}
