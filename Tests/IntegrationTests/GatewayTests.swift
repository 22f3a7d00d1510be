extension RealProcesses {
    /// Images over HTTP, from a gateway in front of a stack.
    @Suite struct GatewayTests {
        private static let sandboxed = ["--allow-private-networks"]
        private let origin = OriginServer()

        private func withGateway(
            _ arguments: [String] = ["--unsigned"],
            _ body: (GatewayProcess, StackHarness) async throws -> Void
        ) async throws {
            try await withStack(Self.sandboxed, decoders: 1) { stack in
                try await body(try GatewayProcess(before: stack, arguments), stack)
            }
        }

        private func path(
            _ name: String, _ options: String = "rs:fit:40:40", _ fileExtension: String = ""
        )
            -> String
        { "/unsafe/\(options)/plain/\(origin.url(name))\(fileExtension)" }

        @Test func anImageIsWhatTheURLSays() async throws {
            origin.route(
                "/a.jpg",
                .bytes(try Images.waves(width: 160, height: 80).jpeg(quality: 90))
                    .with(header: "Cache-Control", "max-age=600"))
            try await withGateway { gateway, _ in
                let image = try gateway.get(path("/a.jpg", "rs:fit:40:40", "@png"))
                #expect(image.status == 200, "\(image.head)")
                #expect(image.field("Content-Type") == "image/png")
                #expect(try Pixels(decoding: image.body).size == "40x20")
                let tag = try #require(image.field("ETag"))
                let again = try gateway.get(
                    path("/a.jpg", "rs:fit:40:40", "@png"), "If-None-Match: \(tag)\r\n")
                #expect(again.status == 304 && again.body.isEmpty)
                let part = try gateway.get(
                    path("/a.jpg", "rs:fit:40:40", "@png"), "Range: bytes=5-9\r\n")
                #expect(part.status == 206 && part.body == Array(image.body[5..<10]))
                #expect(origin.requestCount("/a.jpg") == 1)
            }
        }

        @Test(arguments: [
            ("image/avif,image/webp,*/*", "image/avif"), ("image/webp,*/*", "image/webp"),
            ("image/avif;q=0,image/webp", "image/webp"), ("*/*", "image/jpeg"),
        ])
        func theFormatIsOneThatIsAccepted(accept: String, type: String) async throws {
            origin.route("/a.jpg", .bytes(try Images.smallPhoto()))
            try await withGateway { gateway, _ in
                let image = try gateway.get(path("/a.jpg"), "Accept: \(accept)\r\n")
                #expect(image.field("Content-Type") == type, "\(image.head)")
                #expect(image.field("Vary") == "Accept")
            }
        }

        @Test func errorsHaveStatusesAndSayWhatIsWrong() async throws {
            origin.route("/page", .bytes(Array("<html>".utf8), contentType: "text/html"))
            origin.route("/500", .status(500))
            try await withGateway { gateway, _ in
                for (target, status) in [
                    (path("/none.jpg"), 404), (path("/500"), 502), (path("/page"), 422),
                    ("/unsafe/w:abc/plain/http://a/b", 400), ("/unsafe/plain/", 400),
                ] {
                    let answer = try gateway.get(target)
                    #expect(answer.status == status, "\(target): \(answer)")
                    #expect(answer.field("Cache-Control") == "no-store" && !answer.body.isEmpty)
                }
                #expect(try gateway.get("/live").status == 200)
                #expect(try gateway.get("/ready").status == 200)
            }
        }

        @Test func aKeySignsAndNothingElseDoes() async throws {
            origin.route("/a.jpg", .bytes(try Images.smallPhoto()))
            let folder = TemporaryDirectory()
            let keys = folder.write("# one\n736563726574 68656c6c6f\n", to: "keys")
            try await withGateway(["--keys", keys]) { gateway, _ in
                let unsigned = try gateway.get(path("/a.jpg"))
                #expect(unsigned.status == 403)
                // The example of imgproxy's documentation: signed, with a host that doesn't exist.
                let signed =
                    "/oKfUtW34Dvo2BGQehJFR4Nr0_rIjOtdtzJ3QFsUcXH8/rs:fill:300:400:0/g:sm/"
                    + "aHR0cDovL2V4YW1w/bGUuY29tL2ltYWdl/cy9jdXJpb3NpdHku/anBn.png"
                #expect(try gateway.get(signed).status != 403)
                #expect(try gateway.get(signed.replacing("300", with: "301")).status == 403)
            }
        }

        @Test func whoLeavesCancelsAndNobodyElse() async throws {
            let image = try Images.smallPhoto()
            let gate = Gate()
            origin.route("/own.jpg", .hangBody(until: Gate(), then: image))
            origin.route("/shared.jpg", .hangBody(until: gate, then: image))
            try await withGateway { gateway, stack in
                do {
                    let client = try gateway.connect()
                    client.get(path("/own.jpg"))
                    #expect(await origin.waitForRequest("/own.jpg"))
                }
                #expect(await origin.waitForConnectionClosed("/own.jpg"))
                let stays = try gateway.connect()
                stays.get(path("/shared.jpg"))
                #expect(await origin.waitForRequest("/shared.jpg"))
                do {
                    let leaves = try gateway.connect()
                    leaves.get(path("/shared.jpg"))
                    _ = try await stack.awaitStatus("two who wait") {
                        ($0.counter("liveRequests") ?? 0) == 2
                    }
                }
                _ = try await stack.awaitStatus("one who waits") {
                    ($0.counter("liveRequests") ?? 0) == 1
                }
                gate.open()
                #expect(stays.whole().status == 200)
                #expect(origin.requestCount("/shared.jpg") == 1)
                try await stack.awaitIdle()
            }
        }

        @Test func whoIsToldToEndAnswersWhoWaits() async throws {
            let image = try Images.smallPhoto()
            let gate = Gate()
            origin.route("/a.jpg", .hangBody(until: gate, then: image))
            try await withGateway { gateway, _ in
                let waits = try gateway.connect()
                let asks = try gateway.connect()
                waits.get(path("/a.jpg"))
                #expect(await origin.waitForRequest("/a.jpg"))
                try gateway.send(.terminate)
                try await pollUntil("/ready to say no") {
                    asks.get("/ready")
                    return asks.whole().status == 503
                }
                gate.open()
                #expect(waits.whole().status == 200)
                #expect(try gateway.end().status == "exit 0")
                #expect(throws: RawClient.ConnectionRefused.self) {
                    _ = try RawClient(port: gateway.port)
                }
            }
        }
    }
}
