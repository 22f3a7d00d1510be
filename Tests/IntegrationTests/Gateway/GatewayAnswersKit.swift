/// Shared helpers for tests of gateway responses.
struct GatewayBench {
    let origin = OriginServer()

    /// Runs a gateway with unsigned paths in front of its own stack.
    func run(
        _ arguments: [String] = [], stack flags: [String] = [], decoders: Int = 1,
        _ body: (GatewayProcess, StackHarness) async throws -> Void
    ) async throws {
        try await withStack(["--allow-private-networks"] + flags, decoders: decoders) { stack in
            try await body(try GatewayProcess(before: stack, ["--unsigned"] + arguments), stack)
        }
    }

    /// A path in imgproxy's grammar.
    func path(_ name: String, _ options: String = "rs:fit:40:40", _ fileExtension: String = "")
        -> String
    {
        let options = options.isEmpty ? "" : "\(options)/"
        return "/unsafe/\(options)plain/\(origin.url(name))\(fileExtension)"
    }
}
