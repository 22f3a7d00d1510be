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
            let report = try measure(bench, interruption, isOwn: stack.isOwn)
            return options.printsJSON ? try JSONText.text(report) : report.text
        }
    }

    private static func report(
        _ value: Result<CancelReport, ImageError>, isOwn: Bool
    ) throws -> CancelReport {
        do throws(ImageError) {
            return try value.get()
        } catch {
            guard error.code == .addressForbidden, !isOwn else { throw error }
            throw ImageError(
                .addressForbidden,
                "the running stack may not reach the pictures that this command serves: "
                    + "--private starts one that may",
                details: error.details)
        }
    }

    /// Waits for the report. A first Ctrl-C asks for what there is, a second for nothing.
    private static func measure(
        _ bench: CancelBench, _ interruption: Interruption, isOwn: Bool
    ) throws -> CancelReport {
        let completion = try Completion<CancelReport>()
        completion.start { () throws(ImageError) in try await bench.run() }
        while true {
            if let value = completion.value { return try report(value, isOwn: isOwn) }
            _ = try interruption.wait(for: [completion.number], milliseconds: nil)
            if interruption.count > 0 { bench.stop() }
            if interruption.count > 1 { throw ImageError(.cancelled, "cancelled") }
        }
    }
}
