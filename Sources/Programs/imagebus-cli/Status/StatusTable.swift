import Messages
import Observability

/// The status for people.
enum StatusTable {
    static func text(_ report: StatusReport) -> String {
        var text = summary(report, since: nil)
        text += "\n"
        text += table(
            ["SOCKET", "IN", "OUT", "BYTES IN", "BYTES OUT", "LARGEST"],
            report.sockets.map {
                [
                    $0.name, "\($0.messagesReceived)", "\($0.messagesSent)",
                    ByteText.text($0.bytesReceived), ByteText.text($0.bytesSent),
                    ByteText.text($0.largestMessage),
                ]
            })
        if !report.cancellations.isEmpty { text += "\n" + cancellations(report) }
        guard !report.counters.isEmpty else { return text }
        return text + "\n"
            + table(["COUNTER", "VALUE"], report.counters.map { [$0.name, "\($0.value)"] })
    }

    /// What the process can no longer do, from inside.
    static func sandbox(_ layers: SandboxLayers) -> String {
        layers.isEmpty ? "-" : layers.names.joined(separator: ",")
    }

    /// From `CancelJob` to a free worker.
    private static func cancellations(_ report: StatusReport) -> String {
        let answer = StatusAnswer(report)
        return table(
            ["CANCELS", "COUNT", "HARD", "P50 MS", "P99 MS"],
            answer.cancellations.map {
                [
                    $0.stage, "\($0.cancels)", "\($0.hard)", tenths($0.p50), tenths($0.p99),
                ]
            })
    }

    /// One decimal.
    static func tenths(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }

    /// The first column to the left, the others to the right.
    static func table(_ header: [String], _ rows: [[String]]) -> String {
        let lines = ([header] + rows).map { $0.map(PlainText.line) }
        let widths = header.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
        return lines.map { cells in
            let padded = cells.indices.map { column in
                let blanks = String(repeating: " ", count: widths[column] - cells[column].count)
                return column == 0 ? cells[column] + blanks : blanks + cells[column]
            }
            return padded.joined(separator: "  ") + "\n"
        }.joined()
    }

    static func duration(_ milliseconds: UInt64) -> String {
        let seconds = milliseconds / 1000
        switch seconds {
        case ..<60: return "\(seconds) s"
        case ..<3600: return "\(seconds / 60) min \(seconds % 60) s"
        case ..<86_400: return "\(seconds / 3600) h \(seconds / 60 % 60) min"
        default: return "\(seconds / 86_400) d \(seconds / 3600 % 24) h"
        }
    }
}
