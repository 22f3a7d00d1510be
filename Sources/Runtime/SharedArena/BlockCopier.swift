public import ImageModel
import Linux
public import Messages

/// Reads other processes' blocks with `pread` into memory of our own: for the cache, which trusts
/// no writer (DESIGN §4). Any thread; keeps nothing open.
public struct BlockCopier: Sendable {
    private let directories: SegmentDirectories
    private let owner: UInt32?

    /// Reads below these directories; segments must belong to `owner`, where one is named.
    public init(directories: SegmentDirectories, owner: UInt32?) {
        self.directories = directories
        self.owner = owner
    }

    /// Looks whether the bytes are there. Throws `stale` where they are not.
    public func check(_ reference: BlockReference) throws(ImageError) {
        _ = try SegmentOpening.open(reference, in: directories, owner: owner)
    }

    /// Copies the payload to the start of `target`, which must be large enough.
    ///
    /// Throws `stale` where the segment is gone, or shorter than the reference says.
    public func copy(
        _ reference: BlockReference, into target: UnsafeMutableRawBufferPointer
    ) throws(ImageError) {
        let count = Int(reference.length)
        precondition(count <= target.count, "the target holds the payload")
        let file = try SegmentOpening.open(reference, in: directories, owner: owner)
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
