import Linux
import Messages
import TestKit

extension WireWorker {
    /// The file of the segment to which forged outcomes refer.
    struct SegmentFile {
        fileprivate let folder: String
        fileprivate let name: String

        /// Puts a payload where forged references say that it is.
        func write(_ bytes: [UInt8]) throws {
            let file = try FileDescriptor.openDirectory(folder).open(name, [.readWrite])
            try bytes.withUnsafeBytes { try file.writeAll($0, at: 64) }
        }

        /// Removes it.
        func remove() { try? FileDescriptor.openDirectory(folder).unlink(name) }
    }

    /// Makes the segment that `announce` speaks of.
    func makeSegment(
        in stack: StackHarness, byteCount: UInt64 = Forgery.segmentBytes
    ) throws -> SegmentFile {
        let folder = "\(stack.runtimeDirectory)/arena/transform"
        let file = SegmentFile(
            folder: folder, name: "\(incarnation.value.hex).\(Forgery.segment)")
        try FileDescriptor.openDirectory(folder)
            .open(file.name, [.readWrite, .create], mode: 0o640)
            .reserve(byteCount: Int(byteCount))
        return file
    }
}
