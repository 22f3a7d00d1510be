import Imagebus
public import Messages
public import TestKit

extension StatusReport {
    /// A counter; nil where the coordinator has none of that name.
    public func counter(_ name: String) -> Int? {
        counters.first { $0.name == name }.map { Int($0.value) }
    }

    /// Nobody waits for anything, and every block was released.
    public var isIdle: Bool {
        ["liveRequests", "liveJobs", "liveBlocks"].allSatisfy { counter($0) == 0 }
    }

    /// How often processes were started again.
    public var restarts: Int { processes.reduce(0) { $0 + Int($1.restarts) } }

    /// How many processes ended since they had not heeded a cancel within the grace
    /// (SEMANTICS §8.3), as happens on a busy machine. Each counts once its successor is there.
    public var hardCancels: Int { cancellations.reduce(0) { $0 + Int($1.hard) } }

    /// What the stack holds and its processes, in one line.
    public var outline: String {
        let held = counters.filter {
            $0.value > 0 && ($0.name.hasPrefix("live") || $0.name.hasPrefix("queued"))
        }
        let lives = processes.map {
            "\($0.kind.name) \($0.pid) \($0.state), \($0.jobs) jobs, \($0.restarts) restarts"
        }
        return (held.map { "\($0.name) \($0.value)" } + lives).joined(separator: "; ")
    }
}

extension StackHarness {
    /// Waits until nothing is left to be done.
    @discardableResult
    public func awaitIdle(timeout: Duration = defaultTimeout) async throws -> StatusReport {
        try await awaitStatus("an idle stack", timeout: timeout) { $0.isIdle }
    }

    /// The same with so many processes: the heirs of those that ended are there too.
    public func awaitIdle(processes: Int) async throws -> StatusReport {
        try await awaitStatus("an idle stack of \(processes) processes") {
            $0.isIdle && $0.processes.count == processes
        }
    }

    /// What the stack holds at the moment, for messages.
    public func summary() async throws -> String {
        try await awaitStatus("a status") { _ in true }.outline
    }

    /// A process below `serve` by its number in the status.
    public func child(_ process: StatusReport.ProcessStatus) throws -> ObservedProcess {
        guard let child = children.first(where: { $0.processID == Int32(process.pid) }) else {
            throw StackFailure("\(process.kind.name) \(process.pid) is no child", log: logFile)
        }
        return child
    }
}

extension ProcessMetrics {
    /// The figures once the descriptors have not changed for 200 ms: connections that a test gave
    /// up end a moment later, which /proc tells nobody.
    public static func settled(_ process: Int32) async throws -> ProcessMetrics {
        let deadline = ContinuousClock.now.advanced(by: .seconds(5))
        var metrics = try ProcessMetrics(of: process)
        var unchangedSince = ContinuousClock.now
        while ContinuousClock.now < min(deadline, unchangedSince.advanced(by: .milliseconds(200))) {
            try await Task.sleep(for: .milliseconds(10))
            let next = try ProcessMetrics(of: process)
            if next.descriptors != metrics.descriptors { unchangedSince = .now }
            metrics = next
        }
        return metrics
    }
}

extension StackHarness {
    /// Where clients connect.
    public var frontSocket: String { "\(runtimeDirectory)/front/front.sock" }
    /// Of front ends that speak for strangers.
    public var webSocket: String { "\(runtimeDirectory)/web/web.sock" }

    /// Where operators connect.
    public var adminSocket: String { "\(runtimeDirectory)/admin/admin.sock" }

    /// Where workers of a kind connect.
    public func backSocket(_ kind: WorkerKind) -> String {
        "\(runtimeDirectory)/back/\(kind.name)/back.sock"
    }
}
