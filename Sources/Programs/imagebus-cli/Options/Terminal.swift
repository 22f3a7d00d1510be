import Glibc
import Linux

/// Standard output and standard error: whole texts, unbuffered.
enum Terminal {
    /// False where nobody reads any more.
    @discardableResult
    static func out(_ text: String) -> Bool { write(Array(text.utf8), to: 1) }

    @discardableResult
    static func error(_ text: String) -> Bool { write(Array(text.utf8), to: 2) }

    @discardableResult
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        bytes.withUnsafeBytes { (try? FileDescriptor.writeAll($0, to: descriptor)) != nil }
    }

    static var errorIsTerminal: Bool { isatty(2) == 1 }
}
