import Messages

/// What `status --json` prints (DESIGN §11).
struct StatusAnswer: Encodable {
    struct Process: Encodable {
        let kind: String
        let pid: UInt32
        let state: String
        let restarts: UInt32
        let jobs: UInt32
        /// Names of the layers that hold.
        let sandbox: [String]
    }

    struct Socket: Encodable {
        let name: String
        let messagesReceived: UInt64
        let messagesSent: UInt64
        let bytesReceived: UInt64
        let bytesSent: UInt64
        let largestMessage: UInt64
    }

    /// Milliseconds from `CancelJob` to a free worker.
    struct Cancellations: Encodable {
        let stage: String
        let cancels: UInt64
        let hard: UInt64
        let p50: Double
        let p99: Double

        enum CodingKeys: String, CodingKey {
            case stage, cancels, hard
            case p50 = "p50_ms"
            case p99 = "p99_ms"
        }
    }

    let processes: [Process]
    let sockets: [Socket]
    let counters: [String: UInt64]
    let uptimeMilliseconds: UInt64
    let cancellations: [Cancellations]

    init(_ report: StatusReport) {
        processes = report.processes.map {
            Process(
                kind: $0.kind.name, pid: $0.pid, state: $0.state, restarts: $0.restarts,
                jobs: $0.jobs, sandbox: $0.sandbox.names)
        }
        sockets = report.sockets.map {
            Socket(
                name: $0.name, messagesReceived: $0.messagesReceived,
                messagesSent: $0.messagesSent, bytesReceived: $0.bytesReceived,
                bytesSent: $0.bytesSent, largestMessage: $0.largestMessage)
        }
        counters = Dictionary(
            report.counters.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        uptimeMilliseconds = report.uptimeMilliseconds
        cancellations = report.cancellations.map {
            Cancellations(
                stage: $0.stage, cancels: $0.durations.count, hard: $0.hard,
                p50: ($0.durations.microseconds(at: 0.5) ?? 0) / 1_000,
                p99: ($0.durations.microseconds(at: 0.99) ?? 0) / 1_000)
        }
    }
}
