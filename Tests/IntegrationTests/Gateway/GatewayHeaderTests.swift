extension RealProcesses {
    /// Headers that a gateway forwards to origins, and those that it adds to responses.
    @Suite struct GatewayHeaderTests {
        private let bench = GatewayBench()
        private let folder = TemporaryDirectory()

        /// A configuration whose profile `web` permits these headers.
        private func permitting(_ headers: String) -> [String] {
            let text = "profiles: {web: {front: {headers: [\(headers)]}}}\n"
            return ["--config", folder.write(text, to: "imagebus.yaml")]
        }

        private static func image(_ shade: UInt8) throws -> [UInt8] {
            let samples = [UInt8](repeating: shade, count: 30 * 20 * 3)
            return try Pixels(width: 30, height: 20, bands: 3, samples: samples).png()
        }

        /// Two images, chosen by the cookie, and a third without one.
        private func routeByCookie() throws {
            var images: [String: [UInt8]] = [:]
            for (name, shade) in [("user=ann", 40), ("user=bob", 140), ("", 240)] {
                images[name] = try Self.image(UInt8(shade))
            }
            let known = images
            bench.origin.route(
                "/mine.png",
                OriginBehavior { request in
                    OriginResponse(
                        known[request.header("cookie") ?? ""] ?? [], contentType: "image/png")
                })
        }

        private func shade(_ answer: RawClient.Response) throws -> Int {
            Int(try Pixels(decoding: answer.body).at(5, 5)[0])
        }

        @Test func visitorsGetTheImagesOfTheirCookies() async throws {
            try routeByCookie()
            let arguments = [
                "--pass-headers", "Cookie", "--pass-headers-to", bench.origin.url("/"),
            ]
            try await bench.run(arguments, stack: permitting("cookie")) { gateway, _ in
                let path = bench.path("/mine.png", "w:15", "@png")
                for round in 1...3 {
                    for (cookie, expected) in [("user=ann", 40), ("user=bob", 140), ("", 240)] {
                        let field = cookie.isEmpty ? "" : "Cookie: \(cookie)\r\n"
                        let answer = try gateway.get(path, field)
                        #expect(answer.status == 200, "\(answer.head)")
                        #expect(try shade(answer) == expected, "\(round) \(cookie)")
                        #expect(answer.field("Vary")?.contains("Cookie") == true)
                        let caching = answer.field("Cache-Control") ?? ""
                        #expect(
                            caching.hasPrefix("private") == !cookie.isEmpty,
                            "\(cookie) \(caching)")
                    }
                }
                // Each of the three was fetched once.
                #expect(bench.origin.requestCount("/mine.png") == 3)
            }
        }

        /// A URL on another host gets no cookies of the HTTP clients, whatever it requests.
        @Test func otherSourcesGetNone() async throws {
            let stranger = OriginServer()
            let image = try Images.waves(width: 30, height: 20).png()
            stranger.route("/a.png", .bytes(image))
            bench.origin.route("/go.png", .redirect(to: stranger.url("/a.png?redirected")))
            let arguments = [
                "--pass-headers", "cookie,authorization", "--pass-headers-to",
                bench.origin.url("/"), "--fallback", stranger.url("/a.png?fallback"),
            ]
            try await bench.run(
                arguments, stack: permitting("cookie, authorization")
            ) { gateway, _ in
                let fields = "Cookie: user=ann\r\nAuthorization: Bearer x\r\n"
                let userInfo = "http://\(bench.origin.host)%40\(stranger.authority)/a.png"
                for source in [
                    stranger.url("/a.png?plain"), bench.origin.url("/go.png"), userInfo,
                    bench.origin.url("/none.png"),
                ] {
                    let answer = try gateway.get("/unsafe/plain/\(source)@png", fields)
                    #expect(answer.status == 200, "\(source) \(answer.head)")
                }
                let asked = stranger.requests("/a.png")
                #expect(asked.count >= 3)
                for request in asked {
                    #expect(request.header("cookie") == nil)
                    // The user info of the URL comes from the HTTP client itself.
                    #expect(request.header("authorization")?.contains("Bearer") != true)
                }
                #expect(bench.origin.requests("/go.png").first?.header("cookie") == "user=ann")
            }
        }

        /// Values are compared as bytes: a value that merely looks the same belongs to another HTTP
        /// client, even if the gateway has the response in memory; invalid UTF-8 isn't forwarded.
        @Test func valuesAreComparedByteForByte() async throws {
            let (one, other) = ("user=\u{E9}", "user=e\u{301}")
            let (first, second) = (try Self.image(60), try Self.image(160))
            bench.origin.route(
                "/mine.png",
                OriginBehavior { request in
                    let isFirst = (request.header("cookie") ?? "").utf8.elementsEqual(one.utf8)
                    return OriginResponse(isFirst ? first : second, contentType: "image/png")
                })
            let arguments = [
                "--pass-headers", "cookie,Cookie", "--pass-headers-to", bench.origin.url("/"),
            ]
            try await bench.run(arguments, stack: permitting("cookie")) { gateway, _ in
                let path = bench.path("/mine.png", "w:15", "@png")
                for _ in 1...20 {
                    #expect(try shade(gateway.get(path, "Cookie: \(one)\r\n")) == 60)
                    #expect(try shade(gateway.get(path, "Cookie: \(other)\r\n")) == 160)
                }
                _ = try gateway.get(path, "Cookie: a=1\r\nCookie: b=2\r\n")
                let cookies = bench.origin.requests("/mine.png").map { $0.header("cookie") }
                #expect(cookies.contains("a=1; b=2"), "\(cookies)")
                let client = try gateway.connect()
                client.send(Array("GET \(path) HTTP/1.1\r\nHost: a\r\nCookie: a=".utf8))
                client.send([0xFF] + Array("\r\nConnection: close\r\n\r\n".utf8))
                #expect(client.whole().status == 400)
            }
        }

        /// Headers that the operator's profile doesn't permit are rejected, whatever the gateway
        /// requests.
        @Test func theProfileDecides() async throws {
            bench.origin.route("/a.png", .bytes(try Images.waves(width: 30, height: 20).png()))
            let arguments = [
                "--pass-headers", "x-shop", "--pass-headers-to", bench.origin.url("/"),
            ]
            try await bench.run(arguments, stack: permitting("x-other")) { gateway, _ in
                let path = bench.path("/a.png")
                let refused = try gateway.get(path, "X-Shop: 7\r\n")
                #expect(refused.status == 400, "\(refused.head)")
                #expect(refused.field("X-Imagebus-Error") == "invalidRequest")
                #expect(bench.origin.requestCount("/a.png") == 0)
                #expect(try gateway.get(path).status == 200)
            }
        }

        @Test func answersHaveTheHeadersOfTheOperator() async throws {
            bench.origin.route("/a.png", .bytes(try Images.waves(width: 30, height: 20).png()))
            let arguments = [
                "--response-headers", "X-Served-By=img=1\\;Strict-Transport-Security=max-age=9; a",
            ]
            try await bench.run(arguments) { gateway, _ in
                let path = bench.path("/a.png")
                let image = try gateway.get(path)
                let tag = image.field("ETag") ?? ""
                for answer in [
                    image, try gateway.get(path),
                    try gateway.get(path, "If-None-Match: \(tag)\r\n"),
                    try gateway.get(bench.path("/none.png")), try gateway.get("/live"),
                ] {
                    #expect(answer.field("X-Served-By") == "img=1", "\(answer.head)")
                    #expect(answer.field("Strict-Transport-Security") == "max-age=9; a")
                }
            }
        }
    }
}
