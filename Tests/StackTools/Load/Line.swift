import Linux

/// Lines of output.
enum Line {
    static func printLine(_ line: String, to descriptor: Int32 = 1) {
        let bytes = Array("\(line)\n".utf8)
        // Errors are ignored: the reader has closed the pipe.
        bytes.withUnsafeBytes { _ = try? FileDescriptor.writeAll($0, to: descriptor) }
    }
}
