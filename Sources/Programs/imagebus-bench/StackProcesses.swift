import Linux
import Model
import Reporting

/// A process of a stack that is visible in this PID namespace.
enum VisibleProcess {
    /// Returns the local PID of a process in the status report.
    typealias Finder = (StatusReport.ProcessStatus) -> ProcessID?

    /// The name of this process in a report.
    static let client = "client"

    /// The kernel truncates process names to this length in bytes (`TASK_COMM_LEN`).
    private static let nameBytesMax = 15

    /// Returns the PID of a process in the status report if it refers to the same process here;
    /// `nil` otherwise, for instance if the stack runs in containers with PID namespaces of their
    /// own.
    static func id(of process: StatusReport.ProcessStatus) -> ProcessID? {
        let id = ProcessID(process.pid)
        guard let file = try? FileDescriptor.open("/proc/\(id)/comm"),
            let bytes = try? file.readToEnd(bytesMax: 64)
        else { return nil }
        let name = "imagebus-\(process.kind.name)".utf8.prefix(nameBytesMax)
        return bytes.elementsEqual(Array(name) + [UInt8(ascii: "\n")]) ? id : nil
    }

    /// Returns all processes of a stack, and this one, with their kinds.
    static func all(
        in report: StatusReport, _ find: Finder = VisibleProcess.id
    ) -> [(kind: String, id: ProcessID?)] {
        var all = report.processes.map { (kind: $0.kind.name, id: find($0)) }
        all.append((kind: client, id: CurrentProcess.processID))
        return all
    }
}

/// Measures the processor time of all processes of a stack and of this one, by kind, over one or
/// several periods of work.
struct ProcessorMeter {
    private let processes: [(kind: String, id: ProcessID?)]
    /// The nanoseconds of each process; `nil` if they couldn't be read.
    private var nanoseconds: [Int64?]
    private var count = 0

    init(_ report: StatusReport, find: VisibleProcess.Finder = VisibleProcess.id) {
        processes = VisibleProcess.all(in: report, find)
        nanoseconds = processes.map { _ in 0 }
    }

    /// Begins a period.
    mutating func start() { add(times: -1) }

    /// Ends the period, in which `count` loads were performed.
    mutating func stop(after count: Int) {
        add(times: 1)
        self.count += count
    }

    private mutating func add(times sign: Int64) {
        for place in processes.indices {
            let used = processes[place].id.flatMap { try? ProcessorTime.nanoseconds(of: $0) }
            guard let used, let before = nanoseconds[place] else {
                nanoseconds[place] = nil
                continue
            }
            nanoseconds[place] = before + sign * Int64(clamping: used)
        }
    }

    /// The microseconds per load by kind, over all threads of all its processes. A kind is omitted
    /// if one of its processes has ended since or isn't visible here.
    var microseconds: [String: Double] {
        var sums: [String: Int64?] = [:]
        for (process, used) in zip(processes, nanoseconds) {
            let before = sums[process.kind] ?? 0
            sums[process.kind] = .some(before.flatMap { sum in used.map { sum + $0 } })
        }
        return sums.compactMapValues { $0 }.mapValues { Double($0) / 1e3 / Double(max(1, count)) }
    }
}

/// The memory of all processes of a stack and of this one.
enum StackMemory {
    /// Reports the peak of each process, including shared memory, and its current share, excluding
    /// segments of the arena. Inaccessible processes are omitted.
    static func read(
        _ report: StatusReport, find: VisibleProcess.Finder = VisibleProcess.id
    ) -> [BenchReport] {
        VisibleProcess.all(in: report, find).compactMap { (kind, process) -> BenchReport? in
            guard let process, let peak = try? ProcessMemory.peakBytes(of: process),
                let shares = try? ProcessMemory.proportional(of: process)
            else { return nil }
            return [
                "kind": kind, "pid": Int(process), "peak_bytes": Int(clamping: peak),
                "own_bytes": Int(clamping: shares.total - shares.shared),
            ]
        }
    }

    /// Resets the peaks. If the kernel doesn't permit it, they count from the start of the
    /// processes.
    static func resetPeaks(_ report: StatusReport) {
        for case (_, let process?) in VisibleProcess.all(in: report) {
            try? ProcessMemory.resetPeak(of: process)
        }
    }
}
