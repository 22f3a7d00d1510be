import Linux

/// An `imagebus-gateway` in front of a stack, on a port of 127.0.0.1 that the system chooses.
public final class GatewayProcess {
    private let program: LaunchedProgram
    /// The port that it listens on.
    public let port: UInt16
    /// The port of the metrics, with `--metrics-listen`.
    public var metricsPort: UInt16? { Self.port(in: program.output.lines, "serving metrics") }

    /// Its process id.
    public var processID: Int32 { program.child.processID }

    /// Waits for a line that meets the condition and returns all lines so far.
    public func awaitLine(_ isMeant: (String) -> Bool) throws -> [String] {
        try program.awaitLine("seen to log the expected line", where: isMeant)
    }

    /// Starts the gateway and waits until it listens; `arguments` follow those for the addresses.
    public init(
        before stack: StackHarness, _ arguments: [String], environment: [String: String] = [:]
    ) throws {
        let command = try ChildCommand(
            Programs.path(.gateway),
            ["--runtime-dir", stack.runtimeDirectory, "--listen", "127.0.0.1:0"] + arguments,
            environment: Programs.cleanEnvironment.merging(environment) { $1 })
        program = try LaunchedProgram(command, reading: [2])
        let lines = try program.awaitLine { GatewayProcess.port(in: [$0]) != nil }
        port = GatewayProcess.port(in: lines) ?? 0
    }

    private static func port(in lines: [String], _ word: String = "listening") -> UInt16? {
        let line = lines.first { $0.contains(word) }
        let word = line?.split(separator: " ").first { $0.hasPrefix("port=") }
        return word.flatMap { UInt16($0.dropFirst("port=".count)) }
    }

    /// Opens a connection to it.
    public func connect() throws -> RawClient { try RawClient(port: port) }

    /// Sends one request on a connection of its own.
    public func get(_ target: String, _ more: String = "") throws -> RawClient.Response {
        try RawClient.get(target, port, more)
    }

    /// The metrics that it serves, with `--metrics-listen`.
    public func samples() throws -> [PrometheusParser.Sample] {
        guard let metricsPort else { throw StackFailure("the gateway serves no metrics") }
        return try PrometheusParser.samples(RawClient.get("/metrics", metricsPort).text)
    }

    /// Sends it a signal.
    public func send(_ signal: StackSignal) throws { try program.child.send(signal.signal) }

    /// Waits for it to end, and returns its exit status and its output.
    public func end(
        timeout: Duration = StackHarness.timeout
    ) throws -> (status: String, lines: [String]) {
        guard let status = try program.child.wait(milliseconds: timeout.milliseconds) else {
            throw StackFailure("the gateway did not end within \(timeout)")
        }
        while try program.output.readMore(within: .seconds(1)) == .more {}
        return (status.description, program.output.lines)
    }
}
