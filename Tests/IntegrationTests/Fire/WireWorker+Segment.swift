extension WireWorker {
    /// The segment file that forged outcomes refer to.
    struct SegmentFile {
        fileprivate let folder: String
        fileprivate let name: String

        /// Writes a payload at the position that forged references name.
        func write(_ bytes: [UInt8]) throws {
            let file = try FileDescriptor.openDirectory(folder).open(name, [.readWrite])
            try bytes.withUnsafeBytes { try file.writeAll($0, at: 64) }
        }

        /// Removes the file.
        func remove() { try? FileDescriptor.openDirectory(folder).unlink(name) }
    }

    /// Creates the segment that `announce` announces, among those of a pool.
    func makeSegment(
        in stack: StackHarness, of pool: String = "transform",
        byteCount: UInt64 = Forgery.segmentBytes
    ) throws -> SegmentFile {
        let folder = "\(stack.runtimeDirectory)/arena/\(pool)"
        let file = SegmentFile(
            folder: folder, name: "\(incarnation.value.hex).\(Forgery.segment)")
        try FileDescriptor.openDirectory(folder)
            .open(file.name, [.readWrite, .create], mode: 0o640)
            .reserve(byteCount: Int(byteCount))
        return file
    }
}
