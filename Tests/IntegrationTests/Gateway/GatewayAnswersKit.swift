/// Runs a gateway in front of its own stack.
func withGateway(
    _ arguments: [String] = ["--unsigned"], stack flags: [String] = ["--allow-private-networks"],
    decoders: Int = 1, _ body: (GatewayProcess, StackHarness) async throws -> Void
) async throws {
    try await withStack(flags, decoders: decoders) { stack in
        try await body(try GatewayProcess(before: stack, arguments), stack)
    }
}

extension OriginServer {
    /// Serves an image, of 80 × 80 pixels if none is given, that stays fresh for ten minutes.
    func routeFresh(_ path: String = "/a.jpg", _ image: [UInt8]? = nil) throws {
        let image = try image ?? Images.smallPhoto()
        route(path, .bytes(image).with(header: "Cache-Control", "max-age=600"))
    }
}

/// A connection that a collection can hold.
final class HeldClient {
    let client: RawClient
    init(_ client: consuming RawClient) { self.client = client }
}

/// Shared helpers for tests of gateway responses.
struct GatewayBench {
    let origin = OriginServer()

    /// Runs a gateway with unsigned paths in front of its own stack.
    func run(
        _ arguments: [String] = [], stack flags: [String] = [], decoders: Int = 1,
        _ body: (GatewayProcess, StackHarness) async throws -> Void
    ) async throws {
        try await withGateway(
            ["--unsigned"] + arguments, stack: ["--allow-private-networks"] + flags,
            decoders: decoders, body)
    }

    /// A path in imgproxy's grammar.
    func path(_ name: String, _ options: String = "rs:fit:40:40", _ fileExtension: String = "")
        -> String
    {
        let options = options.isEmpty ? "" : "\(options)/"
        return "/unsafe/\(options)plain/\(origin.url(name))\(fileExtension)"
    }
}
