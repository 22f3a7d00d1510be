import Testing
import ZeroMQ

@Suite struct EndpointTests {
    @Test func aPathHasAtMost107Bytes() throws {
        let longest = "/" + String(repeating: "x", count: 106)
        #expect(try Endpoint(path: longest).path == longest)
        #expect(throws: Endpoint.Failure.pathTooLong(bytes: 108)) {
            try Endpoint(path: longest + "x")
        }
        // Bytes count, not characters.
        #expect(throws: Endpoint.Failure.pathTooLong(bytes: 109)) {
            try Endpoint(path: "/" + String(repeating: "ä", count: 54))
        }
    }

    @Test(arguments: ["ipc://", "ipc://*", "ipc://@abstract", "ipc://a\0b"])
    func namesThatMeanSomethingElseAreRefused(text: String) {
        #expect(throws: Endpoint.Failure.badName) { try Endpoint(parsing: text) }
    }

    @Test(arguments: ["tcp://127.0.0.1:1", "inproc://x", "/tmp/x", ""])
    func otherTransportsAreRefused(text: String) {
        #expect(throws: Endpoint.Failure.unknownTransport) { try Endpoint(parsing: text) }
    }

    @Test func anEndpointIsItsText() throws {
        let parsed = try Endpoint(parsing: "ipc:///run/a/front.sock")
        #expect(parsed.path == "/run/a/front.sock")
        #expect("\(parsed)" == "ipc:///run/a/front.sock")
    }
}
