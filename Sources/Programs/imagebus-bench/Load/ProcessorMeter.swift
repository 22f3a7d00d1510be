import Linux

/// Processor time that processes use between two moments.
struct ProcessorMeter {
    private let processes: [ProcessID?]
    private let before: [UInt64?]

    /// Starts for these processes; nil for one whose number is not known.
    init(_ processes: [ProcessID?]) {
        self.processes = processes
        before = Self.read(processes)
    }

    /// Microseconds since then for each process; nil where they cannot be read.
    var microseconds: [Double?] {
        zip(before, Self.read(processes)).map { before, after in
            guard let before, let after, after >= before else { return nil }
            return Double(after - before) / 1e3
        }
    }

    private static func read(_ processes: [ProcessID?]) -> [UInt64?] {
        processes.map { $0.flatMap { try? ProcessorTime.nanoseconds(of: $0) } }
    }
}
