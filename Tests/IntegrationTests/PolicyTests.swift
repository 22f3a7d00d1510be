extension RealProcesses {
    /// The addresses that a stack may download from.
    @Suite struct PolicyTests {
        @Test func loopbackIsRefusedUnlessItIsAllowed() async throws {
            let origin = OriginServer("/a.png", .bytes(try Images.quadrants().png()))
            try await withStack([]) { stack in
                let end = try stack.get([origin.url("/a.png"), "--json"]).expect(77)
                let error = try end.json()["error"]
                #expect(error?["code"]?.integer == 3004)
                #expect(error?["name"]?.text == "addressForbidden")
                #expect(error?["retryable"] == .bool(false))
            }
            #expect(origin.acceptedConnectionCount == 0)
        }

        @Test func anAllowedAddressIsServedAndItsRedirectElsewhereIsRefused() async throws {
            let allowed = OriginServer()
            let other = OriginServer()
            let image = try Images.quadrants().png()
            allowed.route("/a.png", .bytes(image))
            allowed.route("/to-other", .redirect(to: other.url("/a.png")))
            allowed.route("/to-itself", .redirect(to: allowed.url("/a.png")))
            other.route("/a.png", .bytes(image))
            try await withStack(["--allow-address", allowed.authority]) { stack in
                #expect(try stack.get([allowed.url("/a.png")]).exitStatus == 0)
                #expect(try stack.get([allowed.url("/to-itself")]).exitStatus == 0)
                let end = try stack.get([allowed.url("/to-other"), "--json"]).expect(77)
                #expect(try end.json()["error"]?["code"]?.integer == 3004)
                // The stack is shared: the advice is about its `serve`.
                let message = try #require(try end.json()["error"]?["message"]?.text)
                for word in ["imagebus serve", "--allow-address IP:PORT", "get --private"] {
                    #expect(message.contains(word), "\(message)")
                }
            }
            #expect(other.acceptedConnectionCount == 0)
        }

        @Test func aPrivateStackOfGetHasAPolicyOfItsOwn() throws {
            let origin = OriginServer("/a.png", .bytes(try Images.quadrants().png()))
            let folder = TemporaryDirectory()
            let places = ["--runtime-dir", folder.file("run"), "--cache-dir", folder.file("cache")]
            let line = ["get", origin.url("/a.png"), "--private"] + places
            #expect(try CommandLineRun(line).end().exitStatus == 77)
            let allowed = line + ["--allow-address", origin.authority, "--json"]
            let end = try CommandLineRun(allowed).end().expect(0)
            #expect(try end.json()["width"]?.integer == 400)
        }
    }
}
