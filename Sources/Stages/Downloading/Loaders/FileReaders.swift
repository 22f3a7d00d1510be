import ImageModel
import Linux
import StageContract
import Synchronization

/// Threads that read files, so that a slow disk holds up no transfer.
///
/// They begin with the first file. Every task that was taken is answered once, on one of them.
final class FileReaders: Sendable {
    /// What became of a task; its block is the receiver's.
    struct Answer: Sendable {
        let task: FileTask
        let result: Result<LocalBody, DownloadFailure>
    }

    /// Files that are read at a time.
    static let threadsMax = 4

    private let shared: Shared
    private let space: any OutputSpace
    private let deliver: @Sendable (Answer) -> Void
    private let threads = Mutex([ThreadBox]())

    /// A thread can be put into an array only within something else.
    private final class ThreadBox: Sendable {
        private let thread: Mutex<Linux.Thread?>
        init(_ thread: consuming Linux.Thread) { self.thread = Mutex(thread) }
        func join() { thread.withLock { $0.take() }?.join() }
    }

    /// What all threads touch.
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

        /// The next task; waits for it. `nil` at the end.
        func take() -> FileTask? {
            while true {
                event.drain()
                let (task, isMore) = queue.withLock { queue in
                    let task = queue.tasks.isEmpty ? nil : queue.tasks.removeFirst()
                    return (task, !queue.tasks.isEmpty || queue.isStopping)
                }
                // The event was drained for all threads.
                if isMore { event.signal() }
                if let task { return task }
                if isMore { return nil }
                _ = try? event.descriptor.wait(for: .readable, milliseconds: nil)
            }
        }
    }

    /// Starts no thread yet. `deliver` must not block.
    init(
        into space: any OutputSpace, deliver: @escaping @Sendable (Answer) -> Void
    ) throws(Errno) {
        shared = try Shared()
        self.space = space
        self.deliver = deliver
    }

    deinit { stop() }

    /// Throws where the system has no threads for it.
    func submit(_ task: FileTask) throws(DownloadFailure) {
        do throws(Errno) {
            try start()
        } catch {
            throw .refused(ImageError(.busy, "no thread to read files: \(error)"))
        }
        shared.put(task)
    }

    /// Reads what was asked for and not cancelled, and ends. Waits for it.
    func stop() {
        shared.queue.withLock { $0.isStopping = true }
        shared.event.signal()
        for thread in threads.withLock({ $0 }) { thread.join() }
        threads.withLock { $0 = [] }
    }

    private func start() throws(Errno) {
        guard threads.withLock({ $0.isEmpty }) else { return }
        var started: [ThreadBox] = []
        for _ in 0..<Self.threadsMax {
            let (shared, space, deliver) = (shared, space, deliver)
            started.append(
                ThreadBox(
                    try Linux.Thread(name: "files") {
                        while let task = shared.take() {
                            deliver(Self.answer(task, space))
                        }
                    }))
        }
        threads.withLock { $0 = started }
    }

    private static func answer(_ task: FileTask, _ space: any OutputSpace) -> Answer {
        do throws(DownloadFailure) {
            guard !task.isCancelled else { throw .cancelled }
            return Answer(task: task, result: .success(try FileReading.read(task, into: space)))
        } catch {
            return Answer(task: task, result: .failure(error))
        }
    }
}
