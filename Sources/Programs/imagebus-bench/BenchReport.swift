import Model
import Reporting

/// The result of a measurement: an object in JSON, or tables.
///
/// Its members have the names that scripts know (SEMANTICS §15.5). In tables, a text or number is a
/// column, a report another row, and a list of reports another table; numbers by name are a line.
typealias BenchReport = JSONObject

extension JSONObject {
    /// Reports loads; `concurrency` is that of loads that were evenly spread over the time.
    init(_ name: String, _ loads: LoadMetrics, concurrency: Int? = nil) {
        self = [
            "name": name, "requests": loads.requests, "errors": loads.errors, "rps": loads.rate,
            "p50_ms": loads.p50, "p99_ms": loads.p99, "bytes": loads.bytes,
            "seconds": loads.seconds,
        ]
        guard let concurrency else { return }
        self["concurrency"] = concurrency
        let rates = loads.rates
        self["rps_least"] = rates.least
        self["rps_median"] = rates.median
        self["rps_most"] = rates.most
    }

    /// Adds what a stack did between two status reports, and its memory at the end.
    ///
    /// `coalesced` is the number of loads that waited for another load's job. `gets` are the
    /// fetches of the stack; retried transfers and requeued jobs may cause further ones.
    mutating func add(_ before: StatusReport, _ after: StatusReport, _ meter: ProcessorMeter) {
        self["cpu_us"] = meter.microseconds
        for (name, counter) in [
            ("gets", "fetches"), ("decodes", "decodes"), ("transforms", "transforms"),
            ("coalesced", "coalesced"), ("retries", "retries"), ("requeued", "requeued"),
        ] { self[name] = Int(after.count(counter)) - Int(before.count(counter)) }
        self["memory"] = StackMemory.read(after)
    }

    /// The report in human-readable form.
    var text: String {
        let series = [self] + members.compactMap { $0.value as? BenchReport }
        let others = series.flatMap(\.members).compactMap { (name, value) -> String? in
            switch value {
            case let rows as [BenchReport]: Self.table(rows)
            case let numbers as [String: Double]:
                "\(name): "
                    + numbers.sorted { $0.value > $1.value }.map {
                        "\($0.key) \(TextTable.tenths($0.value))"
                    }.joined(separator: ", ") + "\n"
            default: nil
            }
        }
        return ([Self.table(series)] + others).joined(separator: "\n")
    }

    /// Formats a table with the columns of its first row.
    private static func table(_ rows: [BenchReport]) -> String {
        let names = rows.first?.members.filter { cell($0.value) != nil }.map { $0.name } ?? []
        return TextTable.text(
            names.map { $0.uppercased().replacing("_", with: " ") },
            rows.map { row in names.map { cell(row[$0]) ?? "-" } })
    }

    private static func cell(_ value: Member?) -> String? {
        switch value {
        case let number as Double: thousandths(number)
        case let number as Int: "\(number)"
        default: value as? String
        }
    }

    /// Formats a number with three decimals.
    static func thousandths(_ value: Double) -> String {
        let number = Int((value * 1_000).rounded())
        let rest = "\(number % 1_000)"
        return "\(number / 1_000)." + String(repeating: "0", count: 3 - rest.count) + rest
    }
}
