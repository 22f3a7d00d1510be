/// What processes have used of the processors.
public enum ProcessorTime {
    /// Nanoseconds of all threads that a process has now, in user mode and in the kernel
    /// (`/proc/PID/task/*/schedstat`). What threads used that have ended is not in it.
    public static func nanoseconds(of process: ProcessID) throws(Errno) -> UInt64 {
        let threads = try FileDescriptor.open("/proc/\(process)/task", .directory)
        var sum: UInt64 = 0
        for name in try threads.entries(entriesMax: 100_000) {
            // A thread that has ended meanwhile.
            guard let file = try? threads.open("\(name)/schedstat") else { continue }
            guard let bytes = try? file.readToEnd(bytesMax: 4_096) else { continue }
            let text = String(decoding: bytes, as: UTF8.self)
            guard let used = text.split(separator: " ").first.flatMap({ UInt64($0) }) else {
                throw .inputOutput
            }
            sum += used
        }
        return sum
    }
}
