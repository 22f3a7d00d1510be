import Linux
import Messages
import Reporting

/// What is said of loads, whatever they measure; its JSON is one object (SEMANTICS §15.5).
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

    init(_ name: String, _ figures: LoadFigures, concurrency: Int) {
        (self.name, self.concurrency) = (name, concurrency)
        (requests, errors, bytes) = (figures.requests, figures.errors, figures.bytes)
        (seconds, rps) = (figures.seconds, figures.rate)
        (rpsLeast, rpsMedian, rpsMost) = figures.rates
        p50 = figures.latencies.milliseconds(at: 0.5)
        p99 = figures.latencies.milliseconds(at: 0.99)
    }

    /// Columns of a table for people.
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

    /// Three decimals.
    static func thousandths(_ value: Double) -> String {
        let number = Int((value * 1_000).rounded())
        let rest = "\(number % 1_000)"
        return "\(number / 1_000)." + String(repeating: "0", count: 3 - rest.count) + rest
    }
}

/// What became of loads: how many, how long each took, how many in each slice of the time.
struct LoadFigures: Hashable, Sendable {
    /// Slices of the time, for the spread.
    static let slices = 10

    private(set) var requests = 0
    /// Loads that failed, and those that were not what is measured.
    private(set) var errors = 0
    private(set) var bytes = 0
    private(set) var latencies = LatencyCounts()
    private var bySlice = [Int](repeating: 0, count: slices)
    /// How long it lasted, in seconds.
    var seconds = 0.0

    /// One load of so many nanoseconds; nil bytes: it went wrong.
    mutating func count(nanoseconds: UInt64, bytes: Int?, slice: Int) {
        requests += 1
        guard let bytes else { return errors += 1 }
        self.bytes += bytes
        latencies.record(nanoseconds: nanoseconds)
        bySlice[min(max(slice, 0), Self.slices - 1)] += 1
    }

    /// Loads beside these, in the same time.
    mutating func add(_ other: LoadFigures) {
        requests += other.requests
        errors += other.errors
        bytes += other.bytes
        latencies.add(other.latencies)
        for slice in bySlice.indices { bySlice[slice] += other.bySlice[slice] }
        seconds = max(seconds, other.seconds)
    }

    /// Loads that were made after these, in a time of their own; a slice is that of its turn.
    mutating func append(_ other: LoadFigures) {
        let before = seconds
        add(other)
        seconds = before + other.seconds
    }

    /// Good ones a second.
    var rate: Double { seconds > 0 ? Double(requests - errors) / seconds : 0 }

    /// The same of the slowest, the median and the fastest slice.
    var rates: (least: Double, median: Double, most: Double) {
        let sorted = bySlice.sorted()
        func rate(_ number: Int) -> Double {
            seconds > 0 ? Double(number * Self.slices) / seconds : 0
        }
        return (rate(sorted[0]), rate(sorted[Self.slices / 2]), rate(sorted[Self.slices - 1]))
    }
}

/// How often something took how long: a counter for each 128th of a doubling (0.8 %), so that
/// recording costs a few nanoseconds beside the loads that are measured.
struct LatencyCounts: Hashable, Sendable {
    /// Steps of a doubling, as a power of two.
    private static let stepBits = 7
    private static let steps = 1 << stepBits

    private var counts = [UInt32](repeating: 0, count: (65 - stepBits) * steps)
    private(set) var count: UInt64 = 0

    /// One more.
    mutating func record(nanoseconds: UInt64) {
        counts[Self.place(of: nanoseconds)] &+= 1
        count += 1
    }

    mutating func add(_ other: LatencyCounts) {
        for place in counts.indices { counts[place] &+= other.counts[place] }
        count += other.count
    }

    /// What `share` (0 to 1) of them took at most, in milliseconds; 0 where there are none.
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

    /// In nanoseconds.
    private static func upperEnd(of place: Int) -> Double {
        guard place >= steps else { return Double(place) }
        let shift = place >> stepBits - 1
        return Double(UInt64(place & (steps - 1) | steps) << UInt64(shift)) + Double(1 << shift)
    }
}

/// How long loads were in each stage.
struct StageFigures: Sendable {
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

    /// Milliseconds by the name of the stage.
    var medians: [String: Double] {
        Dictionary(
            zip(Self.stages.map(\.name), counts.map { $0.milliseconds(at: 0.5) }),
            uniquingKeysWith: { first, _ in first })
    }

    /// For people.
    var text: String {
        zip(Self.stages, counts).map { stage, counts in
            "\(stage.name) \(LoadReport.thousandths(counts.milliseconds(at: 0.5)))"
        }.joined(separator: ", ")
    }
}

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

/// Processor time of several processes over several turns of work.
struct ProcessorSum {
    private var microseconds: [Double?] = []
    private var count = 0

    /// So many pieces of work were done since the meter began.
    mutating func add(_ meter: ProcessorMeter, of count: Int) {
        let used = meter.microseconds
        microseconds =
            microseconds.isEmpty
            ? used
            : zip(microseconds, used).map { sum, more in more.flatMap { m in sum.map { $0 + m } } }
        self.count += count
    }

    /// Microseconds of the process at `place` for each piece; nil where they could not be read.
    func each(_ place: Int) -> Double? {
        guard count > 0, microseconds.indices.contains(place) else { return nil }
        return microseconds[place].map { $0 / Double(count) }
    }
}

/// Processor time of all processes of a stack and of this one, by kind, from now on.
struct ProcessorsByKind {
    /// This process, in a report.
    static let client = "client"

    private let kinds: [String]
    private let meter: ProcessorMeter

    init(_ report: StatusReport, find: VisibleProcess.Finder = VisibleProcess.id) {
        kinds = report.processes.map(\.kind.name) + [Self.client]
        meter = ProcessorMeter(
            report.processes.map(find) + [CurrentProcess.processID])
    }

    /// Microseconds of each kind for each of so many pieces of work, all threads of all its
    /// processes; a kind is left out where one of them has ended since, or is not seen here.
    func microseconds(each count: Int) -> [String: Double] {
        var sums: [String: Double?] = [:]
        for (kind, used) in zip(kinds, meter.microseconds) {
            let before = sums[kind] ?? 0
            sums[kind] = .some(before.flatMap { sum in used.map { sum + $0 } })
        }
        return sums.compactMapValues { $0 }.mapValues { $0 / Double(max(1, count)) }
    }
}

/// A process of a stack that can be looked at from here.
enum VisibleProcess {
    /// Finds the number of a process of the status report here.
    typealias Finder = (StatusReport.ProcessStatus) -> ProcessID?

    /// The kernel cuts a process' name off behind so many bytes (`TASK_COMM_LEN`).
    private static let nameBytesMax = 15

    /// The number under which `/proc` knows a process of the status report here; nil where that is
    /// another process, since the stack runs in containers that count by themselves.
    static func id(of process: StatusReport.ProcessStatus) -> ProcessID? {
        let id = ProcessID(process.pid)
        guard let file = try? FileDescriptor.open("/proc/\(id)/comm"),
            let bytes = try? file.readToEnd(bytesMax: 64)
        else { return nil }
        let name = "imagebus-\(process.kind.name)".utf8.prefix(nameBytesMax)
        return bytes.elementsEqual(Array(name) + [UInt8(ascii: "\n")]) ? id : nil
    }
}
