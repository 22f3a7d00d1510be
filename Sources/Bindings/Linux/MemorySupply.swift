/// How much memory a process may still use, as the kernel says it: by its control group (cgroup v2)
/// and for the machine. What the kernel does not say is `nil`.
public struct MemorySupply: Hashable, Sendable {
    /// Bytes that the control group may use: the least of `memory.max` and `memory.high`, of it and
    /// of those above it.
    public var limitBytes: Int?
    /// Bytes that it uses and that the kernel cannot take back by dropping files.
    public var usedBytes: Int?
    /// Percent of the last ten seconds in which something in it waited for memory.
    public var stallPercent: Double?
    /// Bytes that the machine can still give.
    public var availableBytes: Int?
    /// Bytes of the machine.
    public var totalBytes: Int?

    /// Knows nothing.
    public init() {}

    /// What the kernel says now. `groups` is where cgroup v2 is mounted, `process` is `/proc`.
    public static func now(
        groups: String = "/sys/fs/cgroup", process: String = "/proc"
    ) -> MemorySupply {
        MemorySupply(groups: groups, process: process)
    }

    private init(groups: String, process: String) {
        let own = Self.ownGroup(process)
        var path = own
        while true {
            for file in ["memory.max", "memory.high"] {
                guard let bytes = Self.number("\(groups)\(path)/\(file)") else { continue }
                limitBytes = min(limitBytes ?? bytes, bytes)
            }
            guard let cut = path.lastIndex(of: "/") else { break }
            path = String(path[..<cut])
        }
        let group = "\(groups)\(own)"
        if let current = Self.number("\(group)/memory.current") {
            let files = Self.field("inactive_file", in: Self.text("\(group)/memory.stat")) ?? 0
            usedBytes = max(0, current - files)
        }
        stallPercent = Self.stall(in: Self.text("\(group)/memory.pressure"))
        let machine = Self.text("\(process)/meminfo")
        availableBytes = Self.field("MemAvailable:", in: machine).map { $0 << 10 }
        totalBytes = Self.field("MemTotal:", in: machine).map { $0 << 10 }
    }

    /// Bytes that the control group of a process may use, by cgroup v2 or v1: the least of its
    /// limit and those above it; `nil` where there is none, or where it cannot be read.
    public static func groupLimit(
        of process: ProcessID, groups: String = "/sys/fs/cgroup", processes: String = "/proc"
    ) -> Int? {
        let lines = text("\(processes)/\(process)/cgroup").split(separator: "\n")
        var limits: [Int] = []
        for line in lines {
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3 else { continue }
            let isOld = parts[1].split(separator: ",").contains("memory")
            guard isOld || parts[1].isEmpty else { continue }
            let (root, file) =
                isOld ? ("\(groups)/memory", "memory.limit_in_bytes") : (groups, "memory.max")
            var path = String(parts[2])
            while true {
                limits += [number("\(root)\(path)/\(file)")].compactMap { $0 }
                guard let cut = path.lastIndex(of: "/") else { break }
                path = String(path[..<cut])
            }
        }
        // No limit at all is the largest number of pages in cgroup v1.
        return limits.min().flatMap { $0 < Int(Int64.max >> 1) ? $0 : nil }
    }

    /// The path of the group in cgroup v2, without a slash at its end: `0::/path`.
    private static func ownGroup(_ process: String) -> String {
        let lines = text("\(process)/self/cgroup").split(separator: "\n")
        guard let line = lines.first(where: { $0.hasPrefix("0::/") }) else { return "" }
        let path = line.dropFirst(3)
        return path == "/" ? "" : String(path)
    }

    /// `some avg10=1.25 avg60=…`
    private static func stall(in text: String) -> Double? {
        for line in text.split(separator: "\n") where line.hasPrefix("some ") {
            for part in line.split(separator: " ") where part.hasPrefix("avg10=") {
                return Double(part.dropFirst(6))
            }
        }
        return nil
    }

    private static func field(_ name: String, in text: String) -> Int? {
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.count > 1, words[0] == name { return Int(words[1]) }
        }
        return nil
    }

    /// `max` is no number.
    private static func number(_ path: String) -> Int? {
        Int(text(path).prefix { $0 != "\n" })
    }

    private static func text(_ path: String) -> String {
        guard let file = try? FileDescriptor.open(path),
            let bytes = try? file.readToEnd(bytesMax: 65_536)
        else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }
}
