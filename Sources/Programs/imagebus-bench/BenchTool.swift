import ImageModel
import Imagebus
import Linux
import Reporting
import StackAccess

/// Measures a stack.
enum BenchTool {
    static func run(_ options: BenchOptions) -> Int32 {
        OperatorQuery.run("bench") {
            guard let kind = BenchKinds.all.first(where: { $0.name == options.kind }) else {
                throw ImageError(.invalidRequest, "'\(options.kind)' cannot be measured")
            }
            let interruption = try Interruption.started()
            let origin = try BenchOrigin()
            var stackOptions = options.stack
            if options.url == nil { stackOptions.network.addresses.append(origin.authority) }
            let stack = try OpenStack(stackOptions, interruption)
            defer { stack.end(interruption) }
            let connect = stack.connectMilliseconds(OperatorQuery.answerMilliseconds)
            let route = stack.route
            let setting = try BenchSetting(
                options, origin,
                connect: { () throws(ImageError) in
                    try route.client(
                        repeatsAnswers: !options.byMessage, sharesLoads: false,
                        connectMilliseconds: connect)
                },
                watcher: route.client(asOperator: true, connectMilliseconds: connect))
            let report = try measure(kind, setting, interruption, isOwn: stack.isOwn)
            return options.printsJSON ? try JSONText.text(report) : report.text
        }
    }

    private static func report(
        _ value: Result<any BenchReport, ImageError>, isOwn: Bool
    ) throws -> any BenchReport {
        do throws(ImageError) {
            return try value.get()
        } catch {
            guard error.code == .addressForbidden, !isOwn else { throw error }
            throw ImageError(
                .addressForbidden,
                "the running stack may not reach the images that this command serves: "
                    + "--private starts one that may",
                details: error.details)
        }
    }

    /// Waits for the report. A first Ctrl-C asks for what there is, a second for nothing.
    private static func measure(
        _ kind: any BenchKind.Type, _ setting: BenchSetting, _ interruption: Interruption,
        isOwn: Bool
    ) throws -> any BenchReport {
        let completion = try Completion<any BenchReport>()
        completion.start { () throws(ImageError) in try await kind.init(setting).run() }
        while true {
            if let value = completion.value { return try report(value, isOwn: isOwn) }
            _ = try interruption.wait(for: [completion.number], milliseconds: nil)
            if interruption.count > 0 { setting.stop() }
            if interruption.count > 1 { throw ImageError(.cancelled, "cancelled") }
        }
    }
}
