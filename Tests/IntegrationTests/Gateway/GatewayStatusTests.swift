extension RealProcesses {
    /// Failures of real stacks and origins as HTTP statuses.
    @Suite struct GatewayStatusTests {
        private let bench = GatewayBench()

        private func expect(
            _ answer: RawClient.Response, _ status: Int, _ code: String,
            retry: ClosedRange<Int>? = nil
        ) {
            #expect(answer.status == status, "\(answer.head)")
            #expect(answer.text.hasPrefix("\(code): "), "\(answer.text)")
            #expect(answer.field("X-Imagebus-Error") == code)
            #expect(answer.field("Cache-Control") == "no-store")
            let seconds = answer.field("Retry-After").flatMap { Int($0) }
            #expect(retry.map { seconds.map($0.contains) ?? false } ?? (seconds == nil))
        }

        @Test func whatOriginsSayIsTold() async throws {
            bench.origin.route("/410", .status(410))
            for status in [401, 403, 418, 451, 503] {
                bench.origin.route("/\(status)", .status(status))
            }
            bench.origin.route("/page", .bytes(Array("<html>".utf8), contentType: "text/html"))
            let whole = try Images.smallPhoto()
            bench.origin.route("/torn.jpg", .bytes(Array(whole.prefix(40))))
            bench.origin.route("/short", .closing(after: 40, of: whole))
            try await bench.run { gateway, _ in
                for (name, status, code) in [
                    ("/404", 404, "invalidDownloadStatusCode"),
                    ("/410", 410, "invalidDownloadStatusCode"),
                    ("/401", 403, "invalidDownloadStatusCode"),
                    ("/403", 403, "invalidDownloadStatusCode"),
                    ("/451", 451, "invalidDownloadStatusCode"),
                    ("/418", 502, "invalidDownloadStatusCode"),
                    ("/503", 503, "invalidDownloadStatusCode"), ("/page", 422, "badImageData"),
                    ("/torn.jpg", 422, "badImageData"),
                ] {
                    expect(try gateway.get(bench.path(name)), status, code)
                }
                // The second time the origin isn't asked.
                expect(
                    try gateway.get(bench.path("/page")), 422, "badImageData", retry: 1...10)
                #expect(bench.origin.requestCount("/page") == 1)
                let json = try gateway.get(bench.path("/404"), "Accept: application/json\r\n")
                #expect(json.field("Content-Type") == "application/json")
                #expect(
                    json.text.hasPrefix(
                        #"{"error":"invalidDownloadStatusCode","message":"the origin"#))
                let short = try gateway.get(bench.path("/short"))
                #expect(short.status == 502, "\(short.head)")
                let nobody = try gateway.get("/unsafe/w:9/plain/http://127.0.0.1:1/a")
                expect(nobody, 502, "connectionFailed")
            }
        }

        /// The origin's `Retry-After` is forwarded at once, without a retry.
        @Test(arguments: [429, 503])
        func anOriginWithoutTimeIsToldAtOnce(status: Int) async throws {
            bench.origin.route("/a.jpg", .status(status).with(header: "Retry-After", "120"))
            try await bench.run { gateway, _ in
                let answer = try gateway.get(bench.path("/a.jpg"))
                expect(answer, status, "invalidDownloadStatusCode", retry: 120...120)
                #expect(bench.origin.requestCount("/a.jpg") == 1)
            }
        }

        /// A failure is remembered for the configured time; then the source is requested again, and
        /// a success applies to all clients.
        @Test func aSourceThatWasRepairedIsShown() async throws {
            let page = Array("<html>".utf8)
            bench.origin.route("/a.jpg", .bytes(page, contentType: "text/html"))
            try await bench.run(["--remember-failures", "1s"]) { gateway, stack in
                expect(try gateway.get(bench.path("/a.jpg")), 422, "badImageData")
                let image = try Images.smallPhoto()
                bench.origin.route("/a.jpg", .bytes(image))
                try await Task.sleep(for: .milliseconds(1_100))
                #expect(try gateway.get(bench.path("/a.jpg")).status == 200)
                let request = ImageRequest(bench.origin.url("/a.jpg"), fit: 10)
                _ = try await stack.client().load(request).response
            }
        }

        /// Temporary failures aren't remembered at all.
        @Test func anEmptyBodyIsAskedForAgain() async throws {
            let image = try Images.smallPhoto()
            bench.origin.route("/a.jpg", .sequence([.bytes([]), .status(204), .bytes(image)]))
            try await bench.run { gateway, _ in
                for status in [422, 422, 200] {
                    let answer = try gateway.get(bench.path("/a.jpg"))
                    #expect(answer.status == status, "\(answer.head)")
                }
            }
        }

        @Test func addressesThatAreForbiddenAre403() async throws {
            try await withGateway(stack: []) { gateway, _ in
                expect(try gateway.get(bench.path("/a.jpg")), 403, "addressForbidden")
                #expect(bench.origin.totalRequestCount == 0)
            }
        }

        @Test func whoHasWaitedTooLongIsTold504() async throws {
            let gate = Gate()
            bench.origin.route("/late.jpg", .hang(until: gate))
            try await bench.run(["--timeout", "1"]) { gateway, _ in
                expect(try gateway.get(bench.path("/late.jpg")), 504, "deadlineExceeded")
                gate.open()
            }
        }

        /// 429 with `Retry-After`, while other requests wait for the same host.
        @Test func aFullQueueIs429() async throws {
            let gate = Gate()
            let image = try Images.smallPhoto()
            bench.origin.route("/late.jpg", .hangBody(until: gate, then: image))
            let flags = ["--fetches-per-host", "1", "--queue-limit", "1"]
            try await bench.run(stack: flags) { gateway, stack in
                let first = try gateway.connect()
                first.get(bench.path("/late.jpg"))
                #expect(await bench.origin.waitForRequest("/late.jpg"))
                let second = try gateway.connect()
                second.get(bench.path("/late.jpg%3F2"))
                _ = try await stack.awaitStatus("a full queue") { $0.counter("queued.fetch") == 1 }
                expect(try gateway.get(bench.path("/late.jpg%3F3")), 429, "busy", retry: 1...3_600)
                gate.open()
                #expect(first.whole().status == 200 && second.whole().status == 200)
            }
        }

        /// The stack no longer runs.
        @Test func aStackThatHasGoneIs503() async throws {
            try await bench.run { gateway, stack in
                try stack.stop()
                let answer = try gateway.get(bench.path("/a.jpg"))
                #expect([503, 504].contains(answer.status), "\(answer.head)")
                if answer.status == 503 {
                    expect(answer, 503, "unavailable", retry: 1...3_600)
                }
                try stack.start()
            }
        }
    }
}
