extension RealProcesses {
    /// Images uploaded with the request.
    @Suite struct GatewayPostTests {
        private let bench = GatewayBench()
        private static let token = "a-token-of-some-length"

        private func post(
            _ gateway: GatewayProcess, _ target: String, _ bytes: [UInt8],
            _ more: String = "Authorization: Bearer \(token)\r\n", isChunked: Bool = false
        ) throws -> RawClient.Response {
            let client = try gateway.connect()
            let length =
                isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(bytes.count)"
            client.send("POST \(target) HTTP/1.1\r\nHost: a\r\n\(length)\r\n\(more)\r\n")
            guard isChunked else {
                client.send(bytes)
                return client.whole()
            }
            client.send("\(String(bytes.count, radix: 16))\r\n")
            client.send(bytes)
            client.send("\r\n0\r\n\r\n")
            return client.whole()
        }

        private func withGateway(
            _ more: [String] = [], _ body: (GatewayProcess, StackHarness) async throws -> Void
        ) async throws {
            let folder = TemporaryDirectory()
            let tokens = folder.write(
                Array("# ours\nanother-token-of-them\n\(Self.token)\n".utf8), to: "tokens")
            try await bench.run(["--post-tokens", tokens] + more, body)
        }

        @Test func anImageThatIsSentIsAnsweredLikeOneWithAURL() async throws {
            let bytes = try Images.waves(width: 400, height: 200).png()
            bench.origin.route("/a.png", .bytes(bytes))
            try await withGateway { gateway, _ in
                let target = "/_/rs:fit:40:40/plain/upload://body"
                let fetched = try gateway.get(bench.path("/a.png", "rs:fit:40:40", "@png"))
                for isChunked in [false, true] {
                    let sent = try post(gateway, target + "@png", bytes, isChunked: isChunked)
                    #expect(sent.status == 200, "\(sent.head)")
                    #expect(sent.field("Cache-Control") == "no-store")
                    #expect(sent.field("Content-Type") == "image/png")
                    #expect(sent.body == fetched.body)
                    #expect(sent.field("ETag") == fetched.field("ETag"))
                }
                let negotiated = try post(
                    gateway, target, bytes,
                    "Authorization: Bearer \(Self.token)\r\nAccept: image/webp\r\n")
                #expect(negotiated.field("Content-Type") == "image/webp")
            }
        }

        @Test func nobodyElseSendsAny() async throws {
            let bytes = try Images.waves(width: 40, height: 20).png()
            try await withGateway(["--post-max-bytes", "\(bytes.count)"]) { gateway, _ in
                let target = "/_/rs:fit:4:4/plain/upload://body"
                for field in [
                    "", "Authorization: Bearer \(Self.token)x\r\n", "Authorization: x\r\n",
                ] {
                    let answer = try post(gateway, target, bytes, field)
                    #expect(answer.status == 401)
                    #expect(answer.field("WWW-Authenticate") == "Bearer")
                }
                #expect(try post(gateway, target, bytes).status == 200)
                #expect(try post(gateway, target, bytes + [0]).status == 413)
                #expect(try post(gateway, target, bytes + [0], isChunked: true).status == 413)
                #expect(try post(gateway, target, Array("no image".utf8)).status == 422)
                #expect(try post(gateway, target, []).status == 400)
                #expect(try post(gateway, bench.path("/a.png"), bytes).status == 400)
                // And it doesn't give the GET of the same target a meaning.
                #expect(try gateway.get(target).status == 400)
            }
        }

        @Test func itIsOffUnlessTheOperatorWantsIt() async throws {
            try await bench.run { gateway, _ in
                let answer = try post(gateway, "/_/plain/upload://body", [1])
                #expect(answer.status == 405 && answer.field("Allow") == "GET, HEAD, OPTIONS")
            }
        }

        @Test func thumborsPathsTakeThemToo() async throws {
            let bytes = try Images.waves(width: 400, height: 200).png()
            try await withGateway(["--grammar", "thumbor"]) { gateway, _ in
                let sent = try post(gateway, "/unsafe/fit-in/40x40/upload://body", bytes)
                #expect(sent.status == 200, "\(sent.head)")
                #expect(try Pixels(decoding: sent.body).size == "40x20")
            }
        }
    }
}
