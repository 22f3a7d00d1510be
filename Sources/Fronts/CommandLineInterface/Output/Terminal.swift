import Glibc
import Linux
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
