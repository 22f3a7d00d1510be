import Linux
import Messages

/// What one process of a stack has in memory, in bytes.
struct StackMemory: Encodable, Sendable {
    let kind: String
    let pid: Int32
    /// The most that it had, what it shares with others included.
    let peak: UInt64
    /// Its share now, segments of the arena left out.
    let own: UInt64

    enum CodingKeys: String, CodingKey {
        case kind, pid
        case peak = "peak_bytes"
        case own = "own_bytes"
    }

    /// Every process of the stack, and this one; those that may not be looked at are left out.
    static func read(
        _ report: StatusReport, find: VisibleProcess.Finder = VisibleProcess.id
    ) -> [StackMemory] {
        processes(report, find).compactMap { kind, process in
            guard let peak = try? ProcessMemory.peakBytes(of: process),
                let shares = try? ProcessMemory.proportional(of: process)
            else { return nil }
            return StackMemory(
                kind: kind, pid: process, peak: peak, own: shares.total - shares.shared)
        }
    }

    /// Where the kernel does not permit it, peaks are those since the processes started.
    static func resetPeaks(_ report: StatusReport) {
        for (_, process) in processes(report, VisibleProcess.id) {
            try? ProcessMemory.resetPeak(of: process)
        }
    }

    private static func processes(
        _ report: StatusReport, _ find: VisibleProcess.Finder
    ) -> [(String, ProcessID)] {
        report.processes.compactMap { status in
            find(status).map { (status.kind.name, $0) }
        }
            + [(ProcessorsByKind.client, CurrentProcess.processID)]
    }
}
