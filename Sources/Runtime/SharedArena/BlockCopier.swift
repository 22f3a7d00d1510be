public import ImageModel
import Linux
public import Messages

/// Reads other processes' blocks with `pread` into memory of our own: for the cache, which trusts
/// no writer (SEMANTICS §14.5). Any thread; keeps nothing open.
public struct BlockCopier: Sendable {
    private let directories: SegmentDirectories

    /// Reads below these directories.
    public init(directories: SegmentDirectories) { self.directories = directories }

    /// Looks whether the bytes are there. Throws `stale` where they are not.
    public func check(_ reference: BlockReference) throws(ImageError) {
        _ = try SegmentOpening.open(reference, in: directories)
    }

    /// Copies the payload to the start of `target`, which must be large enough.
    ///
    /// Throws `stale` where the segment is gone, or shorter than the reference says.
    public func copy(
        _ reference: BlockReference, into target: UnsafeMutableRawBufferPointer
    ) throws(ImageError) {
        let count = Int(reference.length)
        precondition(count <= target.count, "the target holds the payload")
        let file = try SegmentOpening.open(reference, in: directories)
        let payload = UnsafeMutableRawBufferPointer(rebasing: target[..<count])
        let read: Int
        do throws(Errno) {
            read = try file.readFully(into: payload, at: Int(reference.offset))
        } catch {
            throw ImageError(.internalError, "a segment cannot be read: \(error)")
        }
        guard read == count else {
            throw ImageError(.stale, "a segment ended \(count - read) bytes early")
        }
    }
}
