import ImageModel
import Linux

/// `imagebus bench`: measures a stack.
enum BenchTool {
    static func run(_ options: BenchOptions) -> Int32 {
        OperatorQuery.run("bench") {
            let interruption = try Interruption.started()
            let origin = try BenchOrigin()
            var stackOptions = options.stack
            if options.url == nil { stackOptions.network.addresses.append(origin.authority) }
            let stack = try OpenStack(stackOptions, interruption)
            defer { stack.end(interruption) }
            let connect = stack.connectMilliseconds(OperatorQuery.answerMilliseconds)
            let bench = CancelBench(
                options, origin, client: try StackClient(stack.paths, connectMilliseconds: connect),
                watcher: try StackClient(
                    stack.paths, asOperator: true, connectMilliseconds: connect))
            let report = try measure(bench, interruption)
            return options.printsJSON ? try JSONText.text(report) : report.text
        }
    }

    /// Waits for the report. A first Ctrl-C asks for what there is, a second for nothing.
    private static func measure(
        _ bench: CancelBench, _ interruption: Interruption
    ) throws -> CancelReport {
        let completion = try Completion<CancelReport>()
        completion.start { () throws(ImageError) in try await bench.run() }
        while true {
            if let value = completion.value { return try value.get() }
            _ = try interruption.wait(for: [completion.number], milliseconds: nil)
            if interruption.count > 0 { bench.stop() }
            if interruption.count > 1 { throw ImageError(.cancelled, "cancelled") }
        }
    }
}
