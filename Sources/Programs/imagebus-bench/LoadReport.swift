import Linux
import Model
import Reporting

/// The report of any series of loads; its JSON is an object (SEMANTICS §15.5).
struct LoadReport: Encodable, Sendable {
    let name: String
    let concurrency: Int
    let seconds: Double
    let requests: Int
    let errors: Int
    let rps: Double
    let rpsLeast: Double
    let rpsMedian: Double
    let rpsMost: Double
    let p50: Double
    let p99: Double
    let bytes: Int

    enum CodingKeys: String, CodingKey {
        case name, concurrency, seconds, requests, errors, rps, bytes
        case rpsLeast = "rps_least"
        case rpsMedian = "rps_median"
        case rpsMost = "rps_most"
        case p50 = "p50_ms"
        case p99 = "p99_ms"
    }

    init(_ name: String, _ metrics: LoadMetrics, concurrency: Int) {
        (self.name, self.concurrency) = (name, concurrency)
        (requests, errors, bytes) = (metrics.requests, metrics.errors, metrics.bytes)
        (seconds, rps) = (metrics.seconds, metrics.rate)
        (rpsLeast, rpsMedian, rpsMost) = metrics.rates
        p50 = metrics.latencies.milliseconds(at: 0.5)
        p99 = metrics.latencies.milliseconds(at: 0.99)
    }

    /// The columns of the human-readable table.
    static let header = [
        "WHAT", "AT A TIME", "LOADS", "ERRORS", "A SECOND", "SLOWEST TENTH", "FASTEST TENTH",
        "P50 MS", "P99 MS", "BYTES EACH",
    ]

    var row: [String] {
        [
            name, "\(concurrency)", "\(requests)", "\(errors)", TextTable.tenths(rps),
            TextTable.tenths(rpsLeast), TextTable.tenths(rpsMost), Self.thousandths(p50),
            Self.thousandths(p99), "\(bytes / max(requests - errors, 1))",
        ]
    }

    /// Formats a number with three decimals.
    static func thousandths(_ value: Double) -> String {
        let number = Int((value * 1_000).rounded())
        let rest = "\(number % 1_000)"
        return "\(number / 1_000)." + String(repeating: "0", count: 3 - rest.count) + rest
    }
}

/// The results of a series of loads: counts, latencies and the distribution over time.
struct LoadMetrics: Hashable, Sendable {
    /// The number of time slices, used to determine the spread.
    static let slices = 10

    private(set) var requests = 0
    /// The number of loads that failed or did not match the measurement.
    private(set) var errors = 0
    private(set) var bytes = 0
    private(set) var latencies = LatencyCounts()
    private var bySlice = [Int](repeating: 0, count: slices)
    var seconds = 0.0

    /// Counts a load; `bytes` is `nil` on failure.
    mutating func count(nanoseconds: UInt64, bytes: Int?, slice: Int) {
        requests += 1
        guard let bytes else { return errors += 1 }
        self.bytes += bytes
        latencies.record(nanoseconds: nanoseconds)
        bySlice[min(max(slice, 0), Self.slices - 1)] += 1
    }

    /// Adds loads performed concurrently.
    mutating func add(_ other: LoadMetrics) {
        requests += other.requests
        errors += other.errors
        bytes += other.bytes
        latencies.add(other.latencies)
        for slice in bySlice.indices { bySlice[slice] += other.bySlice[slice] }
        seconds = max(seconds, other.seconds)
    }

    /// Appends loads performed afterwards; their slices are added to the corresponding slices.
    mutating func append(_ other: LoadMetrics) {
        let before = seconds
        add(other)
        seconds = before + other.seconds
    }

    /// The number of successful loads per second.
    var rate: Double { seconds > 0 ? Double(requests - errors) / seconds : 0 }

    /// The rates of the slowest, the median and the fastest slice.
    var rates: (least: Double, median: Double, most: Double) {
        let sorted = bySlice.sorted()
        func rate(_ number: Int) -> Double {
            seconds > 0 ? Double(number * Self.slices) / seconds : 0
        }
        return (rate(sorted[0]), rate(sorted[Self.slices / 2]), rate(sorted[Self.slices - 1]))
    }
}

/// A histogram of latencies with 128 buckets per octave (0.8 %). Recording takes only a few
/// nanoseconds, so it hardly affects the measurement.
struct LatencyCounts: Hashable, Sendable {
    /// The number of buckets per octave, as a power of two.
    private static let stepBits = 7
    private static let steps = 1 << stepBits

    private var counts = [UInt32](repeating: 0, count: (65 - stepBits) * steps)
    private(set) var count: UInt64 = 0

    mutating func record(nanoseconds: UInt64) {
        counts[Self.place(of: nanoseconds)] &+= 1
        count += 1
    }

    mutating func add(_ other: LatencyCounts) {
        for place in counts.indices { counts[place] &+= other.counts[place] }
        count += other.count
    }

    /// Returns the quantile `share` (0 to 1) in milliseconds; 0 if nothing was recorded.
    func milliseconds(at share: Double) -> Double {
        let wanted = max(1, (Double(count) * share).rounded(.up))
        var sum: UInt64 = 0
        for (place, number) in counts.enumerated() {
            sum += UInt64(number)
            if Double(sum) >= wanted { return Self.upperEnd(of: place) / 1e6 }
        }
        return 0
    }

    private static func place(of value: UInt64) -> Int {
        guard value >= UInt64(steps) else { return Int(value) }
        let shift = 63 - value.leadingZeroBitCount - stepBits
        return (shift + 1) << stepBits | Int(value >> UInt64(shift)) & (steps - 1)
    }

    /// Returns the upper bound of a bucket in nanoseconds.
    private static func upperEnd(of place: Int) -> Double {
        guard place >= steps else { return Double(place) }
        let shift = place >> stepBits - 1
        return Double(UInt64(place & (steps - 1) | steps) << UInt64(shift)) + Double(1 << shift)
    }
}

/// The time that loads spent in each stage.
struct StageMetrics: Sendable {
    private static let stages: [(name: String, time: @Sendable (StageTimings) -> Double)] = [
        ("queue", { $0.queue }), ("query", { $0.query }), ("fetch", { $0.fetch }),
        ("decode", { $0.decode }), ("transform", { $0.transform }), ("store", { $0.store }),
        ("total", { $0.total }),
    ]

    private var counts = [LatencyCounts](repeating: LatencyCounts(), count: stages.count)

    mutating func record(_ timings: StageTimings) {
        for (place, stage) in Self.stages.enumerated() {
            counts[place].record(nanoseconds: UInt64(max(0, stage.time(timings)) * 1e6))
        }
    }

    /// The median milliseconds by stage name.
    var medians: [String: Double] {
        Dictionary(
            zip(Self.stages.map(\.name), counts.map { $0.milliseconds(at: 0.5) }),
            uniquingKeysWith: { first, _ in first })
    }

    /// The medians in human-readable form.
    var text: String {
        zip(Self.stages, counts).map { stage, counts in
            "\(stage.name) \(LoadReport.thousandths(counts.milliseconds(at: 0.5)))"
        }.joined(separator: ", ")
    }
}

/// Measures the processor time of processes between two points in time.
struct ProcessorMeter {
    private let processes: [ProcessID?]
    private let before: [UInt64?]

    /// Starts measuring these processes; `nil` for one that is unknown.
    init(_ processes: [ProcessID?]) {
        self.processes = processes
        before = Self.read(processes)
    }

    /// The microseconds used since then by each process; `nil` if they can't be read.
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

/// The processor time of several processes, summed over several rounds of work.
struct ProcessorSum {
    private var microseconds: [Double?] = []
    private var count = 0

    /// Adds the time since the meter was started, in which `count` units of work were done.
    mutating func add(_ meter: ProcessorMeter, of count: Int) {
        let used = meter.microseconds
        microseconds =
            microseconds.isEmpty
            ? used
            : zip(microseconds, used).map { sum, more in more.flatMap { m in sum.map { $0 + m } } }
        self.count += count
    }

    /// Returns the microseconds per unit of work of the process at an index; `nil` if they couldn't
    /// be read.
    func each(_ place: Int) -> Double? {
        guard count > 0, microseconds.indices.contains(place) else { return nil }
        return microseconds[place].map { $0 / Double(count) }
    }
}

/// Measures the processor time of all processes of a stack and of this one, by kind.
struct ProcessorsByKind {
    /// The name of this process in a report.
    static let client = "client"

    private let kinds: [String]
    private let meter: ProcessorMeter

    init(_ report: StatusReport, find: VisibleProcess.Finder = VisibleProcess.id) {
        kinds = report.processes.map(\.kind.name) + [Self.client]
        meter = ProcessorMeter(
            report.processes.map(find) + [CurrentProcess.processID])
    }

    /// Returns the microseconds per unit of work by kind, over all threads of all its processes. A
    /// kind is omitted if one of its processes has ended since or isn't visible here.
    func microseconds(each count: Int) -> [String: Double] {
        var sums: [String: Double?] = [:]
        for (kind, used) in zip(kinds, meter.microseconds) {
            let before = sums[kind] ?? 0
            sums[kind] = .some(before.flatMap { sum in used.map { sum + $0 } })
        }
        return sums.compactMapValues { $0 }.mapValues { $0 / Double(max(1, count)) }
    }
}

/// A process of a stack that is visible in this PID namespace.
enum VisibleProcess {
    /// Returns the local PID of a process in the status report.
    typealias Finder = (StatusReport.ProcessStatus) -> ProcessID?

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
}
