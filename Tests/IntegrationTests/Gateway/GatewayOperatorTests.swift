extension RealProcesses {
    /// What operators may do that HTTP clients may not.
    @Suite struct GatewayOperatorTests {
        private let photo: ChangingImage
        private let folder = TemporaryDirectory()
        private let tokens: String
        private var socket: String { folder.file("o.sock") }

        private static let token = "a-token-of-an-operator"
        private static let authorization = "Authorization: Bearer \(token)\r\n"

        init() throws {
            photo = try ChangingImage()
            tokens = folder.write("# ours\n\(Self.token)\n", to: "tokens")
        }

        private func arguments(_ more: [String] = []) -> [String] {
            [
                "--allow-private-networks", "--gateway", "127.0.0.1:0", "--gateway-unsigned",
                "--gateway-assume-fresh", "86400", "--gateway-operator-tokens", tokens,
            ] + more
        }

        private var listening: [String] { ["--gateway-operator-listen", "unix:\(socket)"] }

        /// One request to the operators' listener.
        private func ask(
            _ method: String, _ target: String, _ body: String = "",
            type: String = "application/json", fields: String = authorization
        ) throws -> RawClient.Response {
            let client = try RawClient(path: socket)
            let length =
                body.isEmpty
                ? "" : "Content-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\n"
            client.send("\(method) \(target) HTTP/1.1\r\nHost: a\r\n\(fields)\(length)\r\n\(body)")
            return client.whole()
        }

        private func path(_ options: String = "f:png") -> String {
            "/unsafe/\(options)/plain/\(photo.url)"
        }

        private static let noCache = "Cache-Control: no-cache\r\n"

        // MARK: - no-cache

        @Test func noCacheOfOperatorsHasTheOriginAsked() async throws {
            photo.answer(photo.old, "max-age=3600")
            try await withStack(arguments(), decoders: 1) { stack in
                let port = try stack.gatewayPort()
                let first = try RawClient.get(path(), port)
                _ = try await stack.awaitIdle()
                // Until the gateway answers by itself.
                for _ in 0..<20 { _ = try RawClient.get(path(), port) }
                for fields in [
                    Self.noCache, "Pragma: no-cache\r\n", Self.authorization,
                    "\(Self.noCache)Authorization: Bearer \(Self.token)x\r\n",
                ] {
                    let answer = try RawClient.get(path(), port, fields)
                    #expect(answer.status == 200 && answer.body == first.body)
                }
                #expect(photo.requestCount == 1, "no request without a token")
                let same = try RawClient.get(path(), port, Self.noCache + Self.authorization)
                #expect(same.status == 200 && same.body == first.body, "\(same.head)")
                #expect(photo.conditions == [nil, "\"1\""])
                photo.answer(photo.new, etag: "\"2\"", "max-age=3600")
                #expect(try RawClient.get(path(), port, Self.noCache).body == first.body)
                let new = try RawClient.get(
                    path(), port, "Pragma: no-cache\r\n\(Self.authorization)")
                #expect(new.status == 200 && new.body != first.body)
                #expect(photo.requestCount == 3)
                _ = try await stack.awaitIdle()
                for _ in 0..<20 {
                    #expect(try RawClient.get(path(), port, Self.noCache).body == new.body)
                }
                #expect(photo.requestCount == 3)
                // Each time, whatever was answered before.
                for count in 4...6 {
                    _ = try RawClient.get(path(), port, Self.noCache + Self.authorization)
                    #expect(photo.requestCount == count)
                }
            }
        }

        /// The origin's caching rules are forwarded as usual.
        @Test func anAnswerThatWasAskedForIsNoMoreCacheable() async throws {
            photo.answer(photo.old, "private, max-age=3600")
            try await withStack(arguments(), decoders: 1) { stack in
                let port = try stack.gatewayPort()
                for fields in ["", Self.noCache + Self.authorization] {
                    let answer = try RawClient.get(path(), port, fields)
                    let field = answer.field("Cache-Control") ?? "none"
                    #expect(field == "no-store" || field.hasPrefix("private, "), "\(field)")
                }
            }
        }

        // MARK: - Removals

        /// After each purge the next request gets the current image of the origin.
        @Test func whatWasPurgedIsNotGivenAgain() async throws {
            photo.answerPlainly(photo.old)
            try await withStack(arguments(listening), decoders: 1) { stack in
                let port = try stack.gatewayPort()
                var last = try RawClient.get(path(), port)
                _ = try RawClient.get(path("raw:1"), port)
                for round in 1...20 {
                    _ = try await stack.awaitIdle()
                    for _ in 0..<20 { #expect(try RawClient.get(path(), port).body == last.body) }
                    photo.answerPlainly(round.isMultiple(of: 2) ? photo.old : photo.new)
                    let again = try RawClient.get(path(), port)
                    #expect(again.body == last.body, "it wasn't purged")
                    let answer =
                        round.isMultiple(of: 2)
                        ? try ask("PURGE", "/any/w:10/plain/\(photo.url)")
                        : try ask("POST", "/-/purge", "{\"url\": \"\(photo.url)\"}")
                    #expect(answer.status == 200, "\(answer.head)")
                    let text = answer.text
                    #expect(text.hasPrefix("{\"disk\":2,\"memory\":"), "\(text)")
                    #expect(text.hasSuffix(",\"url\":\"\(photo.url)\"}\n"), "\(text)")
                    let next = try RawClient.get(path(), port)
                    #expect(next.status == 200 && next.body != last.body, "round \(round)")
                    last = next
                }
                let gone = try ask("PURGE", path("w:1"))
                let none = try ask("PURGE", path("w:1"))
                #expect(gone.status == 200 && none.status == 200)
                #expect(none.text.contains("\"disk\":0"))
            }
        }

        /// By prefix and tag, with a gateway of the configuration.
        @Test func severalGoByPrefixAndTag() async throws {
            let image = try Images.smallPhoto()
            let names = ["/a/1.jpg", "/a/2.jpg", "/b/3.jpg"]
            for (index, name) in names.enumerated() {
                photo.origin.route(name, .bytes(image).with(header: "Cache-Tag", "t\(index + 1)"))
            }
            let arguments = folder.configuration(
                """
                profiles: {web: {origin-tags: yes}}
                gateway:
                  {listen: "127.0.0.1:0", unsigned: yes, operator-tokens: \(tokens),
                   operator-listen: "unix:\(socket)"}
                """)
            try await withStack(arguments, decoders: 1) { stack in
                let port = try #require(
                    stack.gatewayURLs(1).first.flatMap(StackHarness.port(ofGateway:)))
                func counts() throws -> [Int] {
                    for name in names {
                        let target = "/_/w:40/plain/\(photo.origin.url(name))"
                        #expect(try RawClient.get(target, port).status == 200)
                    }
                    return names.map { photo.origin.requestCount($0) }
                }
                #expect(try counts() == [1, 1, 1])
                _ = try await stack.awaitIdle()
                #expect(try counts() == [1, 1, 1])
                let prefix = "prefix=\(photo.origin.url("/a/"))"
                let form = "application/x-www-form-urlencoded"
                #expect(try ask("POST", "/-/purge", prefix, type: form).status == 200)
                #expect(try counts() == [2, 2, 1])
                _ = try await stack.awaitIdle()
                #expect(try ask("POST", "/-/purge?tag=t3").status == 200)
                #expect(try counts() == [2, 2, 2])
                _ = try await stack.awaitIdle()
                // The file no longer has operators, so the coordinator no longer permits removals.
                _ = folder.configuration("gateway: {listen: \"127.0.0.1:0\", unsigned: yes}")
                try stack.send(.hangUp)
                try pollUntil("a refusal") {
                    try ask("POST", "/-/purge?tag=none").status == 403
                }
                #expect(try counts() == [2, 2, 2])
            }
        }

        @Test func strangersRemoveNothing() async throws {
            photo.answerPlainly(photo.old)
            try await withStack(arguments(listening), decoders: 1) { stack in
                let port = try stack.gatewayPort()
                _ = try RawClient.get(path(), port)
                _ = try await stack.awaitIdle()
                for fields in ["", "Authorization: Bearer \(Self.token)x\r\n"] {
                    let body = "{\"url\": \"\(photo.url)\"}"
                    for answer in [
                        try ask("PURGE", path(), fields: fields),
                        try ask("POST", "/-/purge", body, fields: fields),
                        try ask("GET", "/", fields: fields),
                    ] {
                        #expect(answer.status == 401, "\(answer.head)")
                        #expect(answer.field("WWW-Authenticate") == "Bearer")
                    }
                }
                // The listener for images doesn't accept operator requests.
                let client = try RawClient(port: port)
                client.send("PURGE \(path()) HTTP/1.1\r\nHost: a\r\n\(Self.authorization)\r\n")
                #expect(client.whole().status == 405)
                let method = try ask("GET", path())
                #expect(method.status == 405 && method.field("Allow") == "POST, PURGE")
                #expect(try ask("POST", "/other").status == 404)
                let large = String(repeating: " ", count: 20 << 10)
                #expect(try ask("POST", "/-/purge", large).status == 413)
                let bad = try ask("POST", "/-/purge", "{\"uri\": \"a\"}")
                #expect(bad.status == 400 && bad.field("X-Imagebus-Error") == "invalidRequest")
                #expect(bad.field("Content-Type") == "application/json")
                _ = try RawClient.get(path(), port)
                #expect(photo.requestCount == 1)
            }
        }

        /// A separate gateway isn't trusted by itself: the operator of the stack must permit
        /// removals.
        @Test(arguments: [false, true])
        func theStackPermitsIt(isPermitted: Bool) async throws {
            photo.answerPlainly(photo.old)
            let file = folder.configuration(
                "profiles: {web: {front: {refresh: yes, removals: yes}}}")
            let arguments = isPermitted ? file : ["--allow-private-networks"]
            try await withStack(arguments, decoders: 1) { stack in
                let gateway = try GatewayProcess(
                    before: stack,
                    [
                        "--unsigned", "--operator-tokens", tokens,
                        "--operator-listen", "unix:\(socket)",
                    ])
                #expect(try gateway.get(path()).status == 200)
                _ = try await stack.awaitIdle()
                let asked = try gateway.get(path(), Self.noCache + Self.authorization)
                #expect(asked.status == (isPermitted ? 200 : 400), "\(asked.head)")
                _ = try await stack.awaitIdle()
                let purged = try ask("PURGE", path())
                #expect(purged.status == (isPermitted ? 200 : 403), "\(purged.head)")
                let text = purged.text
                #expect(text.contains("profiles.web.front") == !isPermitted, "\(text)")
            }
        }

        /// A gateway that accepts uploads connects to another socket and can remove as well; SIGHUP
        /// reloads the tokens.
        @Test func aGatewayThatTakesImagesRemovesThemToo() async throws {
            photo.answerPlainly(photo.old)
            let more = listening + ["--gateway-post-tokens", tokens]
            try await withStack(arguments(more), decoders: 1) { stack in
                let port = try stack.gatewayPort()
                #expect(try RawClient.get(path(), port).status == 200)
                _ = try await stack.awaitIdle()
                #expect(try ask("PURGE", path()).status == 200)
                #expect(try RawClient.get(path(), port).status == 200)
                #expect(photo.requestCount == 2)
                folder.write("another-token-of-ours\n", to: "tokens")
                try stack.send(.hangUp)
                try pollUntil("the new tokens") { try ask("PURGE", path()).status == 401 }
                let other = "Authorization: Bearer another-token-of-ours\r\n"
                #expect(try ask("PURGE", path(), fields: other).status == 200)
            }
        }
    }
}
