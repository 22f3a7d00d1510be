public import TestKit

/// An image of which the origin sends the head at once and the body when the gate opens.
public struct SlowImage {
    /// Who has it, as `/slow.jpg`.
    public let origin = OriginServer()
    /// Lets the body go.
    public let gate = Gate()

    /// Serves it.
    public init() throws {
        let image = try Images.waves(width: 400, height: 300).jpeg(quality: 85)
        origin.route("/slow.jpg", .hangBody(until: gate, then: image))
    }

    /// Starts a load by the command line and waits until the origin has its request.
    public func begin(_ stack: StackHarness) async throws -> CommandLineRun {
        let run = try stack.startGet([origin.url("/slow.jpg"), "--resize", "100x100", "--json"])
        guard await origin.waitForRequest("/slow.jpg") else {
            throw StackFailure("waited for the request of /slow.jpg", log: stack.logFile)
        }
        return run
    }
}
