public import Linux
public import Messages
import SharedArena

/// Why a process is ended that did not crash, as a word in its control segment.
///
/// A kill that nobody explains there came from outside, and is held against no job.
public enum ControlVerdict: UInt64, Sendable {
    /// Its loop stood still; its supervisor writes it.
    case stoodStill = 1
    /// Its work used more of the processors than any image takes and did not stop when it was told
    /// to; it writes that itself.
    case didNotStop = 2
    /// The same, before it used more of the processors than any image takes.
    case cancelledHard = 3

    /// Leaves it in the segment of a life that is about to be killed.
    ///
    /// Throws where there is no such segment. Whatever else lies there is left alone: the process
    /// may have put it there.
    public func leave(in directory: String, for incarnation: Incarnation) throws(Errno) {
        let name = SegmentName(incarnation: incarnation, number: 0).fileName
        let file = try FileDescriptor.openDirectory(directory)
            .open(name, [.writeOnly, .noFollow, .nonBlocking])
        let status = try file.status()
        guard status.type == .regular, status.size == ControlLayout.byteCount else {
            throw .invalidArgument
        }
        let offset = ControlLayout.verdict * MemoryLayout<UInt64>.size
        try withUnsafeBytes(of: rawValue.littleEndian) { (bytes) throws(Errno) in
            try file.writeAll(bytes, at: offset)
        }
    }
}
