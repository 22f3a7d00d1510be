import CLinux
import Glibc

/// What this process is.
public enum CurrentProcess {
    /// Its number.
    public static var processID: ProcessID { getpid() }
    /// Its parent's number; that of a reaper once the parent has died.
    public static var parentID: ProcessID { getppid() }
    /// Its effective user.
    public static var userID: UInt32 { geteuid() }
    /// Its effective group.
    public static var groupID: UInt32 { getegid() }

    /// Has `malloc` map blocks of so many bytes and more on their own, so that the kernel gets them
    /// back when they are freed. Else glibc takes more and more of them, up to 32 MiB each, from
    /// its heap, where a small block behind them keeps them.
    public static func mapBlocks(ofBytes bytes: Int) throws(Errno) {
        try syscall { clinux_map_blocks(bytes) }
    }

    /// The path of the executable (`/proc/self/exe`).
    public static func executablePath() throws(Errno) -> String {
        try readLink { clinux_readlink("/proc/self/exe", $0.baseAddress, $0.count) }
    }

    /// The path of the working directory (`/proc/self/cwd`).
    public static func workingDirectory() throws(Errno) -> String {
        try readLink { clinux_readlink("/proc/self/cwd", $0.baseAddress, $0.count) }
    }

    /// One variable of the environment; nil when it is not set.
    public static func environment(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }

    /// The whole environment. Nothing in this process ever changes it.
    public static var environment: [String: String] {
        var variables: [String: String] = [:]
        var next = environ
        while let entry = next.pointee {
            let pair = String(cString: entry).split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if pair.count == 2 { variables[String(pair[0])] = String(pair[1]) }
            next += 1
        }
        return variables
    }

    /// How many processors this process may use (sched_getaffinity); at least 1.
    public static var processorCount: Int { max(1, Int(clinux_processor_count())) }
}

extension CurrentProcess {
    /// What the program was started with, without its own name.
    public static var arguments: [String] { Array(CommandLine.arguments.dropFirst()) }

    /// Ends the process with this status, after the exit handlers of the C library.
    public static func end(_ status: Int32) -> Never { exit(status) }

    /// Writes what `print` said and the C library holds back, but for where another thread is at
    /// that and may stay there.
    public static func flushOutput() { clinux_flush_output() }

    /// Ends the process with this status and nothing else: for where other threads still run.
    public static func endAtOnce(_ status: Int32) -> Never { _exit(status) }
}
