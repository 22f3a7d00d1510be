import ImageModel
import Linux
import Messages
import StageContract

/// Reads one file below a root. What stands in a URL leads nowhere else: the kernel resolves the
/// path (`FileDescriptor.openBeneath`), so that no link and no rename comes between a check and the
/// opening.
enum FileReading {
    /// Bytes that are read before it is looked whether somebody still wants them.
    static let sliceBytes = 1 << 20
    /// How often a path is tried whose directories are renamed meanwhile.
    private static let attemptsMax = 16

    static func read(
        _ task: FileTask, into space: any OutputSpace
    ) throws(DownloadFailure) -> LocalBody {
        let file = try open(task)
        let status = try status(of: file)
        guard status.type == .regular else { throw FileFailure.notRegular.failure }
        guard status.size <= task.bodyBytesMax else { throw .bodyTooLarge(task.bodyBytesMax) }
        guard status.size > 0 else { throw .emptyBody }
        let marks = FileMarks(status)
        guard !marks.isKnown(from: task.validators) else {
            throw .notModified(OriginCaching(CacheControl(nil), LocalBody.age))
        }
        let block = try copy(file, status.size, task, into: space)
        do throws(DownloadFailure) {
            guard FileMarks(try Self.status(of: file)) == marks else {
                throw FileFailure.changed.failure
            }
        } catch {
            space.discard(block)
            throw error
        }
        return LocalBody(
            block: block, count: status.size, etag: marks.etag, lastModified: marks.lastModified)
    }

    private static func open(_ task: FileTask) throws(DownloadFailure) -> FileDescriptor {
        let root: FileDescriptor
        do throws(Errno) {
            root = try FileDescriptor.open(task.root.path, [.place, .directory])
        } catch {
            throw FileFailure.root(error).failure
        }
        do throws(Errno) {
            return try beneath(root, task.path.text)
        } catch {
            throw FileFailure(error).failure
        }
    }

    /// Not blocking: a pipe would wait for its writer.
    private static func beneath(
        _ root: borrowing FileDescriptor, _ path: String
    ) throws(Errno) -> FileDescriptor {
        for _ in 1..<attemptsMax {
            do throws(Errno) {
                return try root.openBeneath(path, [.readOnly, .nonBlocking])
            } catch .wouldBlock {
                continue
            }
        }
        return try root.openBeneath(path, [.readOnly, .nonBlocking])
    }

    private static func status(
        of file: borrowing FileDescriptor
    ) throws(DownloadFailure) -> FileStatus {
        do throws(Errno) {
            return try file.status()
        } catch {
            throw FileFailure(error).failure
        }
    }

    private static func copy(
        _ file: borrowing FileDescriptor, _ count: Int, _ task: FileTask,
        into space: any OutputSpace
    ) throws(DownloadFailure) -> OutputBlock {
        let block: OutputBlock
        do throws(ImageError) {
            block = try space.reserve(count)
        } catch {
            throw .refused(error)
        }
        do throws(DownloadFailure) {
            try fill(block, file, count, task)
        } catch {
            space.discard(block)
            throw error
        }
        return block
    }

    private static func fill(
        _ block: OutputBlock, _ file: borrowing FileDescriptor, _ count: Int, _ task: FileTask
    ) throws(DownloadFailure) {
        for start in stride(from: 0, to: count, by: sliceBytes) {
            if task.isCancelled { throw .cancelled }
            let room = UnsafeMutableRawBufferPointer(
                rebasing: block.bytes[start..<min(count, start + sliceBytes)])
            let read: Int
            do throws(Errno) {
                read = try file.readFully(into: room, at: start)
            } catch {
                throw FileFailure(error).failure
            }
            guard read == room.count else { throw FileFailure.changed.failure }
        }
    }
}
