import Linux

/// What people read of this program where it does not serve.
enum ProgramOutput {
    /// Writes text to standard output. Who does not read it has no use for it.
    static func write(_ text: String) { write(text, to: 1) }

    /// The same to standard error.
    static func complain(_ text: String) { write(text, to: 2) }

    private static func write(_ text: String, to descriptor: Int32) {
        Array(text.utf8).withUnsafeBytes { try? FileDescriptor.writeAll($0, to: descriptor) }
    }
}
