package import Messages

/// The status for people.
package enum StatusTable {
    package static func text(_ report: StatusReport) -> String {
        var text = summary(report, since: nil)
        text += "\n"
        text += TextTable.text(
            ["SOCKET", "IN", "OUT", "BYTES IN", "BYTES OUT", "LARGEST"],
            report.sockets.map {
                [
                    $0.name, "\($0.messagesReceived)", "\($0.messagesSent)",
                    ByteText.text($0.bytesReceived), ByteText.text($0.bytesSent),
                    ByteText.text($0.largestMessage),
                ]
            })
        if !report.cancellations.isEmpty { text += "\n" + cancellations(report) }
        if !report.transfers.isEmpty { text += "\n" + transfers(report) }
        guard !report.counters.isEmpty else { return text }
        return text + "\n"
            + TextTable.text(
                ["COUNTER", "VALUE"], report.counters.map { [$0.name, "\($0.value)"] })
    }

    /// What the process can no longer do, from inside.
    static func sandbox(_ layers: SandboxLayers) -> String {
        layers.isEmpty ? "-" : layers.names.joined(separator: ",")
    }

    /// From `CancelJob` to a free worker.
    private static func cancellations(_ report: StatusReport) -> String {
        let answer = StatusAnswer(report)
        return TextTable.text(
            ["CANCELS", "COUNT", "HARD", "P50 MS", "P99 MS"],
            answer.cancellations.map {
                [
                    $0.stage, "\($0.cancels)", "\($0.hard)", TextTable.tenths($0.p50),
                    TextTable.tenths($0.p99),
                ]
            })
    }

    /// By phase, where it took place.
    private static func transfers(_ report: StatusReport) -> String {
        func tenths(_ histogram: LatencyHistogram, _ share: Double) -> String {
            TextTable.tenths((histogram.microseconds(at: share) ?? 0) / 1_000)
        }
        return TextTable.text(
            ["TRANSFERS", "COUNT", "P50 MS", "P99 MS"],
            report.transfers.map {
                [
                    $0.phase, "\($0.durations.count)", tenths($0.durations, 0.5),
                    tenths($0.durations, 0.99),
                ]
            })
    }

    package static func duration(_ milliseconds: UInt64) -> String {
        let seconds = milliseconds / 1000
        switch seconds {
        case ..<60: return "\(seconds) s"
        case ..<3600: return "\(seconds / 60) min \(seconds % 60) s"
        case ..<86_400: return "\(seconds / 3600) h \(seconds / 60 % 60) min"
        default: return "\(seconds / 86_400) d \(seconds / 3600 % 24) h"
        }
    }
}
