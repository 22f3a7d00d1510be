public import TestKit

/// An image whose head the origin sends at once and whose body it sends when the gate opens.
public struct SlowImage {
    /// The origin, which serves it as `/slow.jpg`.
    public let origin = OriginServer()
    /// The gate that releases the body.
    public let gate = Gate()

    /// Starts an origin with the image.
    public init() throws {
        let image = try Images.waves(width: 400, height: 300).jpeg(quality: 85)
        origin.route("/slow.jpg", .hangBody(until: gate, then: image))
    }

    /// Starts a load from the command line and waits until the origin has its request.
    public func begin(_ stack: StackHarness) async throws -> CommandLineRun {
        let run = try stack.startGet([origin.url("/slow.jpg"), "--resize", "100x100", "--json"])
        guard await origin.waitForRequest("/slow.jpg") else {
            throw StackFailure("waited for the request of /slow.jpg", log: stack.logFile)
        }
        return run
    }
}
