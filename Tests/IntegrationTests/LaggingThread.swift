import Glibc

/// Makes the first thread of another process run only when no thread of this process and no other
/// thread of that process is runnable, all of them on one processor. What that thread does after
/// sending a message then happens after the message has been read. Ends when this value is
/// released.
///
/// Tests don't depend on the timing to pass: it only makes it more likely to detect a notification
/// that is sent too early.
final class LaggingThread {
    private typealias Affinity = @convention(c) (Int32, Int, UnsafeMutableRawPointer) -> Int32

    private let process: Int32
    /// The CPU affinity mask of this process.
    private var processors = [UInt](repeating: 0, count: 128)
    private let setProcessors: Affinity

    /// SCHED_IDLE, a macro that Swift doesn't import.
    private static let idle: Int32 = 5

    init(_ process: Int32) throws {
        self.process = process
        let getProcessors = try Self.function("sched_getaffinity")
        setProcessors = try Self.function("sched_setaffinity")
        let size = processors.withUnsafeMutableBytes { bytes in
            bytes.baseAddress.map { getProcessors(0, bytes.count, $0) } ?? -1
        }
        guard size >= 0, let word = processors.firstIndex(where: { $0 != 0 }) else {
            throw StackFailure("the processors of this process are not known")
        }
        var one = [UInt](repeating: 0, count: processors.count)
        one[word] = processors[word] & (~processors[word] + 1)
        bind(process, to: one)
        bind(getpid(), to: one)
        var parameter = sched_param(sched_priority: 0)
        guard sched_setscheduler(process, Self.idle, &parameter) == 0 else {
            throw StackFailure("the thread cannot be made to lag: \(errno)")
        }
    }

    deinit {
        var parameter = sched_param(sched_priority: 0)
        _ = sched_setscheduler(process, SCHED_OTHER, &parameter)
        bind(process, to: processors)
        bind(getpid(), to: processors)
    }

    /// A function that Swift doesn't import, since it isn't part of POSIX.
    private static func function(_ name: String) throws -> Affinity {
        guard let function = dlsym(nil, name) else { throw StackFailure("there is no \(name)") }
        return unsafeBitCast(function, to: Affinity.self)
    }

    /// All threads of the process; threads that end meanwhile are skipped.
    private func bind(_ process: Int32, to processors: [UInt]) {
        var processors = processors
        for thread in DirectoryEntries.names("/proc/\(process)/task").compactMap({ Int32($0) }) {
            processors.withUnsafeMutableBytes { bytes in
                if let start = bytes.baseAddress { _ = setProcessors(thread, bytes.count, start) }
            }
        }
    }
}
