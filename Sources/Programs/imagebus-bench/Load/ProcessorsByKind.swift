import Linux
import Messages

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
