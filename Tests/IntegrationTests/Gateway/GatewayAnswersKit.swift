import ImageModel
import Imagebus
import TestKit

/// What the tests of a gateway's answers share.
struct GatewayBench {
    let origin = OriginServer()

    /// A gateway before a stack of its own, with unsigned paths.
    func run(
        _ arguments: [String] = [], stack flags: [String] = [], decoders: Int = 1,
        _ body: (GatewayProcess, StackHarness) async throws -> Void
    ) async throws {
        try await withStack(["--allow-private-networks"] + flags, decoders: decoders) { stack in
            try await body(try GatewayProcess(before: stack, ["--unsigned"] + arguments), stack)
        }
    }

    /// A path of imgproxy's.
    func path(_ name: String, _ options: String = "rs:fit:40:40", _ ending: String = "") -> String {
        let options = options.isEmpty ? "" : "\(options)/"
        return "/unsafe/\(options)plain/\(origin.url(name))\(ending)"
    }
}
