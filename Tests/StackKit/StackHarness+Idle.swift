import Imagebus
public import Model
public import TestKit

extension StatusReport {
    /// A counter of the coordinator; nil if there is none of that name.
    public func counter(_ name: String) -> Int? {
        counters.first { $0.name == name }.map { Int($0.value) }
    }

    /// How much a counter has grown since an earlier report.
    public func growth(of name: String, since earlier: StatusReport) -> Int {
        (counter(name) ?? 0) - (earlier.counter(name) ?? 0)
    }

    /// Whether there are no requests and no jobs, and every block has been released.
    public var isIdle: Bool {
        ["liveRequests", "liveJobs", "liveBlocks"].allSatisfy { counter($0) == 0 }
    }

    /// The number of process restarts.
    public var restarts: Int { processes.reduce(0) { $0 + Int($1.restarts) } }

    /// The number of processes that ended because they didn't obey a cancel within the grace period
    /// (SEMANTICS §8.3), which happens on a busy machine. Each counts once its successor runs.
    public var hardCancels: Int { cancellations.reduce(0) { $0 + Int($1.hard) } }

    /// The resources that the stack holds and its processes, in one line.
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
    /// Waits until the stack is idle.
    @discardableResult
    public func awaitIdle(timeout: Duration = defaultTimeout) async throws -> StatusReport {
        try await awaitStatus("an idle stack", timeout: timeout) { $0.isIdle }
    }

    /// The same with a given number of processes, so that the successors of ended processes are
    /// there as well.
    public func awaitIdle(processes: Int) async throws -> StatusReport {
        try await awaitStatus("an idle stack of \(processes) processes") {
            $0.isIdle && $0.processes.count == processes
        }
    }

    /// The resources that the stack holds, for messages.
    public func summary() async throws -> String {
        try await awaitStatus("a status") { _ in true }.outline
    }

    /// A child process of `serve`, by its process id in the status.
    public func child(_ process: StatusReport.ProcessStatus) throws -> ObservedProcess {
        guard let child = children.first(where: { $0.processID == Int32(process.pid) }) else {
            throw StackFailure("\(process.kind.name) \(process.pid) is not a child", log: logFile)
        }
        return child
    }
}

extension ProcessMetrics {
    /// The measurements once the number of descriptors hasn't changed for 200 ms: connections that
    /// a test has closed end a moment later, and /proc has no event for that.
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
    /// The socket of clients.
    public var frontSocket: String { "\(runtimeDirectory)/front/front.sock" }
    /// The socket of front ends that act for untrusted clients.
    public var webSocket: String { "\(runtimeDirectory)/web/web.sock" }

    /// The socket of operators.
    public var adminSocket: String { "\(runtimeDirectory)/admin/admin.sock" }

    /// The socket of a kind of worker.
    public func backSocket(_ kind: WorkerKind) -> String {
        "\(runtimeDirectory)/back/\(kind.name)/back.sock"
    }
}
