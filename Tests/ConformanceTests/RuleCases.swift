import Imagebus
import Model
import StackKit
import TestKit
import Testing

extension Conformance {
    /// The effect of an operator's rules on transfers: in SDWebImage these are objects of a
    /// downloader.
    @Suite struct RuleCases {
        private let gallery: Gallery
        private let folder = TestKit.TemporaryDirectory()

        init() throws { gallery = try Gallery() }

        private func write(_ text: String) -> String {
            folder.write(Array(text.utf8), to: "imagebus.yaml")
        }

        private func withConfiguration(
            _ text: String, _ body: (StackHarness) async throws -> Void
        ) async throws {
            try await withStack(
                ["--allow-private-networks", "--config", write(text)], decoders: 1, body: body)
        }

        private func secret(_ text: String, _ name: String) -> String {
            folder.write(Array(text.utf8), to: name)
        }

        /// A request modifier: its result is sent, the key stays the same; returning nothing is
        /// error 2000.
        @Test func case039_theRuleSaysWhatIsAsked() async throws {
            let other = OriginServer()
            other.route("/mirror/case039.jpg", .bytes(gallery.image, contentType: "image/jpeg"))
            try await withConfiguration(
                """
                sources: ["\(gallery.url("/case039"))*", "\(other.url("/mirror/"))*"]
                profiles:
                  default:
                    rules:
                      - match: "http://*/case039.jpg*"
                        request:
                          rewrite: {host: "\(other.authority)", path-prefix: /mirror, query: x=1}
                          remove-headers: [Accept, User-Agent]
                      - match: "http://*/case039-said*"
                        headers: {X-Shop: "7"}
                        request: {require-headers: [X-Shop]}
                      - {match: "http://*/case039-strict*", request: {require-headers: [X-Who]}}
                      - {match: "http://*/case039-out*", request: {rewrite: {path-prefix: /out}}}
                """
            ) { stack in
                let url = gallery.url("/case039.jpg")
                let answer = try stack.answer(url)
                #expect(answer["status"]?.text == "ok")
                #expect(answer["key"]?.text == url)
                let request = try #require(other.requests("/mirror/case039.jpg").first)
                #expect(request.header("accept") == nil && request.header("user-agent") == nil)
                #expect(request.target == "/mirror/case039.jpg?x=1")
                #expect(gallery.origin.requestCount("/case039.jpg") == 0)
                let second = try stack.answer(gallery.url("/case039-said.jpg"))
                #expect(second["status"]?.text == "ok")
                let sent = gallery.origin.requests("/case039-said.jpg").first
                #expect(sent?.header("x-shop") == "7")
                let strict = try stack.answer(gallery.url("/case039-strict.jpg"))
                #expect(strict["error"]?["code"]?.integer == 2000)
                let out = try stack.answer(gallery.url("/case039-out.jpg"))
                #expect(out["error"]?["name"]?.text == "sourceForbidden")
            }
        }

        /// A response modifier: a 404 becomes a 200 before the status is checked, and the type
        /// before the type is.
        @Test func case040_theRuleSaysWhatWasAnswered() async throws {
            let image = gallery.image
            gallery.origin.route(
                "/case040/*",
                .bytes(image, contentType: "text/plain").with(header: "Cache-Control", "no-store")
                    .changed { $0.status = 404 })
            let text = """
                profiles:
                  default:
                    rules:
                      - match: "http://*/case040/ruled*"
                        response:
                          status: {404: 200}
                          headers: {Content-Type: image/jpeg}
                          remove-headers: [Cache-Control]
                """
            try await withStack(
                [
                    "--allow-private-networks", "--accept-type", "image/*", "--config", write(text),
                ], decoders: 1
            ) { stack in
                let wait = ["--option", "wait-store-cache"]
                let ruled = gallery.url("/case040/ruled.jpg")
                #expect(try stack.answer(ruled, wait)["status"]?.text == "ok")
                #expect(try stack.tiers(ruled) == "all", "without no-store")
                let other = try stack.answer(gallery.url("/case040/other.jpg"))
                #expect(other["error"]?["code"]?.integer == 2001)
            }
        }

        /// A decryptor: the image is decoded from base64; invalid base64 is error 1001.
        @Test func case041_theRuleSaysWhatIsUndone() async throws {
            let image = gallery.image
            let packed = try PackedBodies.base64(image)
            gallery.origin.route("/case041-text/*", .bytes(packed, contentType: "text/plain"))
            gallery.origin.route("/case041-none/*", .bytes(Array("*".utf8)))
            let sealed = try PackedBodies.sealed(try PackedBodies.gzip(image))
            gallery.origin.route("/case041-sealed/*", .bytes(sealed))
            let key = (0..<32).map { $0 < 16 ? "0" + String($0, radix: 16) : String($0, radix: 16) }
            let file = secret(key.joined() + "\n", "key")
            try await withConfiguration(
                """
                profiles:
                  default:
                    rules:
                      - {match: "http://*/case041*", decrypt: base64}
                      - match: "http://*/case041-sealed/*"
                        decrypt: [{aes-256-gcm: "\(file)"}, gzip]
                  plain: {}
                """
            ) { stack in
                let url = gallery.url("/case041-text/a.jpg")
                let end = try stack.get([url, "-o", "-"])
                #expect(end.output == image)
                let none = try stack.answer(gallery.url("/case041-none/a.jpg"))
                #expect(none["error"]?["code"]?.integer == 1001)
                let sealed = gallery.url("/case041-sealed/a.jpg")
                #expect(try stack.get([sealed, "-o", "-"]).output == image)
                let key = try stack.answer(sealed)["key"]?.text ?? ""
                #expect(key.contains("Auth("), "the key includes an identity: \(key)")
                let other = try stack.answer(sealed, ["--context", "custom-manager=plain"])
                #expect(other["status"]?.text == "error", "not shared between identities")
            }
        }

        /// Credentials come from the files of rules: basic and digest for Apache, a token here.
        /// Requests without the rule don't get them, and no process exposes them.
        @Test func case028_theRuleSaysWhoAsks() async throws {
            let authority = try TestAuthority()
            let server = try WebServer(gallery.image, password: "hush hush", of: authority)
            let (password, token) = (secret("hush hush\n", "pw"), secret("hushtoken\n", "token"))
            let wrong = secret("hushwrong\n", "wrong")
            let at = "http://\(server.address)"
            try await withConfiguration(
                """
                profiles:
                  default:
                    rules:
                      - match: "\(at)/basic/*"
                        credentials: {user: ann, password-file: "\(password)"}
                      - match: "\(at)/digest/*"
                        credentials: {user: ann, password-file: "\(password)", method: digest}
                      - match: "http://*/case028*"
                        credentials: {bearer-file: "\(token)"}
                  wrong:
                    rules:
                      - match: "\(at)/*"
                        credentials: {user: ann, password-file: "\(wrong)", method: digest}
                  nobody: {}
                """
            ) { stack in
                var seen = ""
                func answer(_ url: String, _ manager: String = "default") throws -> JSONValue {
                    let end = try stack.get([
                        url, "--json", "--explain", "--context", "custom-manager=\(manager)",
                    ])
                    seen += end.outputText + end.errorText
                    return try end.json()
                }
                for path in ["/basic/a.png", "/digest/a.png"] {
                    let good = try answer(at + path)
                    #expect(good["status"]?.text == "ok", "\(good)")
                    #expect(good["key"]?.text?.contains("Auth(") == true)
                    let nobody = try answer(at + path, "nobody")
                    #expect(nobody["error"]?["code"]?.integer == 2001, "\(nobody)")
                }
                let bad = try answer(at + "/digest/a.png", "wrong")
                #expect(bad["error"]?["code"]?.integer == 2001)
                #expect(try answer(gallery.url("/case028.jpg"))["status"]?.text == "ok")
                let request = gallery.origin.requests("/case028.jpg").first
                #expect(request?.header("authorization") == "Bearer hushtoken")
                for line in [["status"], ["status", "--json"], ["failure-cache", "list"]] {
                    seen += try stack.run(line).outputText
                }
                seen += FileBytes.text(stack.logFile) ?? ""
                #expect(!seen.contains("hush"))
            }
        }

        /// Two clients with different secrets share no transfer, although they request one URL.
        @Test func rulesOfTwoProfilesShareNoTransfer() async throws {
            let gate = Gate()
            let url = gallery.hold("/who.jpg", until: gate)
            let (ann, ben) = (secret("hushann", "ann"), secret("hushben", "ben"))
            func profile(_ file: String) -> String {
                "{rules: [{match: 'http://*', credentials: {user: x, password-file: '\(file)'}}]}"
            }
            try await withConfiguration(
                "profiles: {ann: \(profile(ann)), ben: \(profile(ben))}\n"
            ) { stack in
                let client = try stack.client(sharesLoads: false)
                let tasks = ["ann", "ben", "ann"].map { name in
                    var request = ImageRequest(url: url)
                    request.context.profile = name
                    return client.load(request)
                }
                #expect(await gallery.origin.waitForRequest("/who.jpg", count: 2))
                _ = try await stack.awaitStatus("all") { $0.counter("liveRequests") == 3 }
                gate.open()
                var keys: [String] = []
                for task in tasks { keys.append(try await task.response.key) }
                #expect(keys[0] == keys[2] && keys[0] != keys[1])
                #expect(gallery.origin.requestCount("/who.jpg") == 2)
            }
        }

        /// maxConcurrentDownloads, changed while downloads are queued.
        @Test func case025_asManyDownloadsRunAsTheFileSaysNow() async throws {
            let gate = Gate()
            try await withConfiguration("downloads: {transfers: 1}\n") { stack in
                let client = try stack.client()
                let tasks = (0..<6).map { number in
                    client.load(gallery.hold("/case025-\(number).jpg", until: gate))
                }
                func running(_ count: UInt64) async throws {
                    _ = try await stack.awaitStatus("\(count) run") { report in
                        report.stages.contains {
                            $0.stage == "fetch" && $0.running == count && $0.queued == 6 - count
                        }
                    }
                }
                try await running(1)
                _ = write("downloads: {transfers: 3}\n")
                try stack.send(.hangUp)
                try await running(3)
                _ = write("downloads: {}\n")
                try stack.send(.hangUp)
                try await running(6)
                gate.open()
                for task in tasks { #expect(await task.errorCode == nil) }
            }
        }

        /// Settings of the file override options and earlier settings, by SIGHUP.
        @Test func downloadsAreSetAnewByTheFile() async throws {
            try await withConfiguration("downloads: {user-agent: one/1}\n") { stack in
                func agent(_ name: String) throws -> String? {
                    _ = try stack.answer(gallery.url("/agent-\(name).jpg"))
                    return gallery.origin.newestRequest("/agent-\(name).jpg")?
                        .header("user-agent")
                }
                #expect(try agent("first") == "one/1")
                _ = write("downloads: {user-agent: two/2, redirect-limit: 0}\n")
                try stack.send(.hangUp)
                // It was also loaded at startup.
                _ = try await stack.awaitStatus("the file is reloaded") { _ in
                    (FileBytes.text(stack.logFile) ?? "").split(separator: "\n")
                        .count { $0.contains("configuration loaded") } == 2
                }
                #expect(try agent("second") == "two/2")
                gallery.origin.route("/moved.jpg", .redirect(to: "/agent-first.jpg"))
                let moved = try stack.answer(gallery.url("/moved.jpg"))
                #expect(moved["error"]?["name"]?.text == "tooManyRedirects")
            }
        }

        /// suspended: queued downloads don't start, running ones continue.
        @Test func suspendedDownloadsWaitUntilTheyAreResumed() async throws {
            let gate = Gate()
            try await withStack(["--allow-private-networks"], decoders: 1) { stack in
                let client = try stack.client()
                let running = client.load(gallery.hold("/suspend-runs.jpg", until: gate))
                #expect(await gallery.origin.waitForRequest("/suspend-runs.jpg"))
                let suspend = try stack.run(["downloads", "suspend"])
                #expect(suspend.outputText == "downloads suspended: 0 queued, 1 running\n")
                let waiting = client.load(gallery.url("/suspend-waits.jpg"))
                _ = try await stack.awaitStatus("one waits") { report in
                    report.stages.contains { $0.stage == "fetch" && $0.queued == 1 }
                }
                gate.open()
                #expect(await running.errorCode == nil)
                #expect(gallery.origin.requestCount("/suspend-waits.jpg") == 0)
                #expect(try stack.run(["status"]).outputText.contains("downloads suspended"))
                let metrics = try stack.run(["status", "--prometheus"]).outputText
                #expect(metrics.contains("imagebus_downloads_suspended 1"))
                let cached = try stack.answer(gallery.url("/suspend-runs.jpg"))
                #expect(cached["status"]?.text == "ok")
                let resume = try stack.run(["downloads", "resume", "--json"])
                #expect(try resume.json()["isSuspended"] == .bool(false))
                #expect(await waiting.errorCode == nil)
            }
        }
    }
}
