import ImageModel
import Linux
import Messages

/// Opens a segment that a reference names, for reading.
enum SegmentOpening {
    private static let othersMayWrite: UInt32 = 0o022

    /// Builds the name from producer and number, and checks type, owner and size (PROTOCOL §10).
    ///
    /// Who writes into a directory is its owner, and nobody else may: so a segment is the
    /// producer's where it is the directory's owner's. Throws `stale` where the bytes are not
    /// there: the segment is gone, shorter than the reference says, or not the producer's;
    /// `internalError` for all else.
    static func open(
        _ reference: BlockReference, in directories: SegmentDirectories
    ) throws(ImageError) -> FileDescriptor {
        guard let producer = reference.producer else {
            throw ImageError(.internalError, "a reference names no producer")
        }
        let name = SegmentName(incarnation: producer.incarnation, number: reference.segment)
        let path = directories.path(of: reference.arena, producer: producer.pool)
        do throws(Errno) {
            let directory = try FileDescriptor.openDirectory(path)
            let place = try directory.status()
            guard place.mode & othersMayWrite == 0 else { throw Errno.notPermitted }
            // Does not wait where somebody put a pipe.
            let file = try directory.open(name.fileName, [.noFollow, .nonBlocking])
            let status = try file.status()
            guard status.type == .regular, status.userID == place.userID,
                contains(status.size, reference)
            else { throw Errno.invalidArgument }
            return file
        } catch .notPermitted {
            throw ImageError(
                .internalError, "\(path) lets others than its owner write: take that away")
        } catch .noSuchFile {
            throw ImageError(.stale, "segment \(name.fileName) is gone")
        } catch .invalidArgument {
            throw ImageError(
                .stale, "segment \(name.fileName) is not what the reference says")
        } catch {
            throw ImageError(.internalError, "segment \(name.fileName) cannot be read: \(error)")
        }
    }

    /// Whether header and payload lie within `size` bytes, without overflow.
    static func contains(_ size: Int, _ reference: BlockReference) -> Bool {
        let (end, overflow) = reference.offset.addingReportingOverflow(reference.length)
        return !overflow && end <= UInt64(max(0, size))
            && reference.offset >= UInt64(BlockHeader.byteCount)
    }
}
