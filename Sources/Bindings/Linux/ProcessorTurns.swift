/// What the threads of a process have had of the processors, and whether they want more: the state
/// of one moment (`/proc/PID/task/*/stat` and `schedstat`).
///
/// Both files are readable for everybody, except where `/proc` is mounted with `hidepid`: then for
/// the own user, and not after a process made itself undumpable. A kernel without
/// `CONFIG_SCHED_INFO` has no `schedstat`: then waits show only in threads that wait now.
public struct ProcessorTurns: Hashable, Sendable {
    /// One thread.
    public struct OfThread: Hashable, Sendable {
        /// Nanoseconds that it ran, in user mode and in the kernel; in steps of 10 ms.
        public var ran: UInt64
        /// Nanoseconds that it was ready to run and waited for a processor. A wait counts when it
        /// is over.
        public var waited: UInt64
        /// It runs, or waits for a processor: it neither sleeps nor is it stopped.
        public var wantsToRun: Bool

        /// States what is known of a thread.
        public init(ran: UInt64, waited: UInt64, wantsToRun: Bool) {
            self.ran = ran
            self.waited = waited
            self.wantsToRun = wantsToRun
        }
    }

    /// When that was, in nanoseconds of the monotonic clock.
    public let takenAt: UInt64
    /// The threads by their numbers.
    public let threads: [Int32: OfThread]

    /// States what is known of threads.
    public init(takenAt: UInt64, threads: [Int32: OfThread]) {
        self.takenAt = takenAt
        self.threads = threads
    }

    /// Asks the kernel. Throws ENOENT or EPERM where the process is not there, or hidden.
    public init(of process: ProcessID) throws(Errno) {
        let folder = try FileDescriptor.open("/proc/\(process)/task", .directory)
        var threads: [Int32: OfThread] = [:]
        for name in try folder.entries(entriesMax: 100_000) {
            // A thread that has ended meanwhile.
            guard let number = Int32(name), let line = try? Self.read("\(name)/stat", in: folder)
            else { continue }
            let waits = try? Self.read("\(name)/schedstat", in: folder)
            guard let thread = OfThread(stat: line, schedstat: waits) else { throw .inputOutput }
            threads[number] = thread
        }
        self.init(takenAt: MonotonicClock.now(), threads: threads)
    }

    private static func read(
        _ name: String, in folder: borrowing FileDescriptor
    ) throws(Errno) -> String {
        String(decoding: try folder.open(name).readToEnd(bytesMax: 4_096), as: UTF8.self)
    }

    /// Nanoseconds since `earlier` in which a thread of the process was ready and did not run; at
    /// most the time that passed.
    ///
    /// The kernel counts a wait once it is over. Of a thread that wants to run now, all is a wait
    /// that it did not run.
    public func waited(since earlier: ProcessorTurns) -> UInt64 {
        let passed = takenAt.minus(earlier.takenAt)
        var sum: UInt64 = 0
        for (number, thread) in threads {
            let before = earlier.threads[number]
            let wait = thread.waited.minus(before?.waited ?? 0)
            let ran = thread.ran.minus(before?.ran ?? 0)
            sum += thread.wantsToRun ? max(wait, passed.minus(ran)) : wait
        }
        return min(sum, passed)
    }

    /// The same by what the kernel has counted: for the process that asks, whose own thread runs.
    public func waitedUntilItRan(since earlier: ProcessorTurns) -> UInt64 {
        let ended = threads.mapValues {
            OfThread(ran: $0.ran, waited: $0.waited, wantsToRun: false)
        }
        return ProcessorTurns(takenAt: takenAt, threads: ended).waited(since: earlier)
    }
}

extension ProcessorTurns.OfThread {
    /// Fields of `stat` behind the name of the program, which may contain anything: the state, and
    /// the ticks in user mode and in the kernel.
    private static let (stateField, userField, kernelField) = (0, 11, 12)
    /// A tick of `stat`, the same on every machine (`USER_HZ`).
    private static let tickNanoseconds: UInt64 = 10_000_000

    /// Reads what the kernel says of a thread; nil for anything else.
    public init?(stat: String, schedstat: String?) {
        guard let bracket = stat.utf8.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = stat[stat.utf8.index(after: bracket)...].split(separator: " ")
        guard fields.count > Self.kernelField, let user = UInt64(fields[Self.userField]),
            let kernel = UInt64(fields[Self.kernelField])
        else { return nil }
        let waits = schedstat?.split { $0 == " " || $0 == "\n" } ?? []
        let waited = waits.count > 1 ? UInt64(waits[1]) : nil
        self.init(
            ran: (user + kernel) * Self.tickNanoseconds, waited: waited ?? 0,
            wantsToRun: fields[Self.stateField] == "R")
    }
}

extension UInt64 {
    /// 0 where the other is larger: counters of the kernel are read one after the other.
    fileprivate func minus(_ other: UInt64) -> UInt64 { self > other ? self - other : 0 }
}
