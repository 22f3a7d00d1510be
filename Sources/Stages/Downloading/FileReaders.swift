import Linux
import Model
import Synchronization

/// Threads that read files, so that a slow disk doesn't delay transfers.
///
/// Every submitted task is answered once, on one of them.
final class FileReaders: Sendable {
    /// The result of a task; the receiver owns its block.
    struct Answer: Sendable {
        let task: FileTask
        let result: Result<LocalBody, ImageError>
    }

    /// The number of files read concurrently.
    static let threadsMax = 4

    private let shared: Shared
    private let threads: [ThreadBox]

    /// A wrapper, because noncopyable threads can't be stored in an array directly.
    private final class ThreadBox: Sendable {
        private let thread: Mutex<Linux.Thread?>
        init(_ thread: consuming Linux.Thread) { self.thread = Mutex(thread) }
        func join() { thread.withLock { $0.take() }?.join() }
    }

    /// The state shared by all threads.
    private final class Shared: Sendable {
        struct Queue {
            var tasks: [FileTask] = []
            var isStopping = false
        }

        let queue = Mutex(Queue())
        let event: EventDescriptor

        init() throws(Errno) { event = try EventDescriptor() }

        func put(_ task: FileTask) {
            queue.withLock { $0.tasks.append(task) }
            event.signal()
        }

        func stop() {
            queue.withLock { $0.isStopping = true }
            event.signal()
        }

        /// Returns the next task, waiting for it; `nil` at the end.
        func next() -> FileTask? {
            while true {
                event.drain()
                let (task, isMore) = queue.withLock { queue in
                    let task = queue.tasks.isEmpty ? nil : queue.tasks.removeFirst()
                    return (task, !queue.tasks.isEmpty || queue.isStopping)
                }
                // Draining the event affected all threads.
                if isMore { event.signal() }
                if let task { return task }
                if isMore { return nil }
                _ = try? event.descriptor.wait(for: .readable, milliseconds: nil)
            }
        }
    }

    /// Starts the threads. `deliver` must not block. Throws if the system can't provide them.
    init(
        into space: any OutputSpace, deliver: @escaping @Sendable (Answer) -> Void
    ) throws(ImageError) {
        let shared: Shared
        do throws(Errno) { shared = try Shared() } catch {
            throw ImageError(.busy, "cannot create a descriptor to read files: \(error)")
        }
        self.shared = shared
        var threads: [ThreadBox] = []
        do throws(Errno) {
            for _ in 0..<Self.threadsMax {
                let thread = try Linux.Thread(name: "files") {
                    while let task = shared.next() { deliver(Self.answer(task, space)) }
                }
                threads.append(ThreadBox(thread))
            }
        } catch {
            shared.stop()
            throw ImageError(.busy, "cannot start the file reader thread: \(error)")
        }
        self.threads = threads
    }

    deinit { stop() }

    /// Submits a task.
    func submit(_ task: FileTask) { shared.put(task) }

    /// Finishes submitted tasks that were not canceled, ends the threads, and waits for them.
    func stop() {
        shared.stop()
        for thread in threads { thread.join() }
    }

    private static func answer(_ task: FileTask, _ space: any OutputSpace) -> Answer {
        do throws(ImageError) {
            guard !task.isCancelled else { throw .cancelled }
            return Answer(task: task, result: .success(try FileReading.read(task, into: space)))
        } catch {
            return Answer(task: task, result: .failure(error))
        }
    }
}

/// A file to be read for a job.
final class FileTask: Sendable {
    let job: JobID
    let path: FilePath
    let root: FileRoot
    let bodyBytesMax: Int64
    /// The validators of the cached body.
    let validators: Validators?
    private let cancelled = Atomic(false)

    init(
        _ job: JobID, _ path: FilePath, below root: FileRoot, bodyBytesMax: UInt64,
        validators: Validators?
    ) {
        self.job = job
        self.path = path
        self.root = root
        self.bodyBytesMax = Int64(clamping: bodyBytesMax)
        self.validators = validators
    }

    func cancel() { cancelled.store(true, ordering: .releasing) }

    var isCancelled: Bool { cancelled.load(ordering: .acquiring) }
}

/// Reads one file below a root. A path in a URL can't escape from it: the kernel resolves the path
/// (`FileDescriptor.openBeneath`), so that links and renames can't interfere between a check and
/// the opening.
enum FileReading {
    /// The number of bytes read between checks for cancellation.
    static let sliceBytes = 1 << 20
    /// How often opening is retried if directories are renamed meanwhile.
    private static let attemptsMax = 16

    static func read(
        _ task: FileTask, into space: any OutputSpace
    ) throws(ImageError) -> LocalBody {
        let file = try open(task)
        let status = try status(of: file)
        guard status.type == .regular else { throw .notRegularFile }
        guard status.size <= task.bodyBytesMax else { throw .bodyTooLarge(task.bodyBytesMax) }
        guard status.size > 0 else { throw .emptyBody }
        let marks = FileMarks(status)
        guard !marks.isKnown(from: task.validators) else {
            throw .notModified(OriginCaching(CacheControl(nil), LocalBody.age))
        }
        let block = try copy(file, status.size, task, into: space)
        do throws(ImageError) {
            guard FileMarks(try Self.status(of: file)) == marks else { throw .changedFile }
        } catch {
            space.discard(block)
            throw error
        }
        return LocalBody(
            block: block, count: status.size, etag: marks.etag, lastModified: marks.lastModified)
    }

    private static func open(_ task: FileTask) throws(ImageError) -> FileDescriptor {
        let root: FileDescriptor
        do throws(Errno) {
            root = try FileDescriptor.open(task.root.path, [.place, .directory])
        } catch {
            throw ImageError(
                .invalidDownloadOperation,
                "the download process cannot open the root of this loader (\(error.name)): it must "
                    + "be an existing directory; mount it into a container")
        }
        do throws(Errno) {
            return try beneath(root, task.path.text)
        } catch {
            throw ImageError(file: error)
        }
    }

    /// Nonblocking, because opening a pipe would wait for its writer.
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
    ) throws(ImageError) -> FileStatus {
        do throws(Errno) {
            return try file.status()
        } catch {
            throw ImageError(file: error)
        }
    }

    private static func copy(
        _ file: borrowing FileDescriptor, _ count: Int, _ task: FileTask,
        into space: any OutputSpace
    ) throws(ImageError) -> OutputBlock {
        let block = try space.reserve(count)
        do throws(ImageError) {
            try fill(block, file, count, task)
        } catch {
            space.discard(block)
            throw error
        }
        return block
    }

    private static func fill(
        _ block: OutputBlock, _ file: borrowing FileDescriptor, _ count: Int, _ task: FileTask
    ) throws(ImageError) {
        for start in stride(from: 0, to: count, by: sliceBytes) {
            if task.isCancelled { throw .cancelled }
            let room = UnsafeMutableRawBufferPointer(
                rebasing: block.bytes[start..<min(count, start + sliceBytes)])
            let read: Int
            do throws(Errno) {
                read = try file.readFully(into: room, at: start)
            } catch {
                throw ImageError(file: error)
            }
            guard read == room.count else { throw .changedFile }
        }
    }
}

/// The validators of a file, as in HTTP.
struct FileMarks: Equatable {
    /// Computed from inode, size and modification time in nanoseconds.
    let etag: String
    /// The modification time in seconds.
    let lastModified: String

    init(_ status: FileStatus) {
        let time = "\(hex(status.modifiedSeconds)).\(hex(status.modifiedNanoseconds))"
        etag = "\"\(hex(status.inode))-\(hex(status.size))-\(time)\""
        lastModified = HTTPDate.text(of: status.modifiedSeconds)
    }

    /// A date is only compared if there is no entity tag (RFC 9110 §13.1.3).
    func isKnown(from validators: Validators?) -> Bool {
        guard let validators else { return false }
        if let known = validators.etag { return known == etag }
        return validators.lastModified == lastModified
    }
}

private func hex(_ number: some BinaryInteger) -> String { String(number, radix: 16) }

extension ImageError {
    /// The error for a file that can't be opened or read. Missing and unreadable files are reported
    /// as HTTP statuses, which rules can match (SEMANTICS §7.2).
    init(file error: Errno) {
        switch error {
        case .noSuchFile, .notDirectory, .nameTooLong:
            self = .file(404, "the file does not exist below the root of the loader")
        case .accessDenied, .notPermitted:
            self = .file(403, "the download process has no permission to read this file")
        case .crossDevice, .symbolicLink:
            self.init(
                .addressForbidden, "a link points outside the root of the loader, or forms a loop")
        case .noDevice: self = .notRegularFile
        case .noFunction:
            self.init(
                .invalidDownloadOperation,
                "this kernel lacks openat2 (Linux 5.6), which is required to read files")
        default: self.init(.invalidDownloadOperation, "the file cannot be read: \(error)")
        }
    }

    private static func file(_ status: Int, _ text: String) -> ImageError {
        ImageError(.invalidDownloadStatusCode, text) { $0.httpStatus = status }
    }

    /// The error for a directory, pipe, socket or device.
    fileprivate static var notRegularFile: ImageError {
        ImageError(.invalidDownloadResponse, "the path is not a regular file")
    }

    fileprivate static var changedFile: ImageError {
        ImageError(.shortBody, "the file was modified while it was being read")
    }
}
