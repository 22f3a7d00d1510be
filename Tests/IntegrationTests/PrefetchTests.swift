import Synchronization

extension RealProcesses {
    /// Prefetching lists of URLs into the caches (SEMANTICS §12); see also ConformanceTests,
    /// `PrefetchCases`.
    @Suite struct PrefetchTests {
        /// An origin with `count` small images.
        private func origin(_ count: Int) throws -> (OriginServer, [String]) {
            let origin = OriginServer()
            let image = try Images.waves(width: 40, height: 30).jpeg(quality: 80)
            for number in 0..<count {
                origin.route("/\(number).jpg", .jpeg(image))
            }
            return (origin, (0..<count).map { origin.url("/\($0).jpg") })
        }

        private let template = ImageRequest("", fit: 20)

        @Test func aCancelEndsWhatRunsAndWhatWaits() async throws {
            let slow = try SlowImage()
            try await withClient { _, client in
                let url = slow.origin.url("/slow.jpg")
                let task = client.prefetch([url] + (0..<50).map { "\(url)?\($0)" })
                #expect(await slow.origin.waitForRequest("/slow.jpg"))
                task.cancel()
                let end = try await task.result
                #expect(end.finished + end.cancelled == end.total)
                #expect(end.cancelled == 51)
                #expect(await slow.origin.waitForConnectionClosed("/slow.jpg"))
            }
        }

        @Test(arguments: [false, true])
        func anOperatorsCancelEndsItAndNothingHangs(asGroup: Bool) async throws {
            let slow = try SlowImage()
            try await withClient { stack, client in
                let task = client.prefetch([slow.origin.url("/slow.jpg")])
                #expect(await slow.origin.waitForRequest("/slow.jpg"))
                let name = task.token.value.hex
                try stack.run(asGroup ? ["cancel", "--group", name] : ["cancel", name]).expect(0)
                #expect(try await task.result == PrefetchCounts(total: 1, cancelled: 1))
            }
        }

        @Test func aLoadOfTheLastURLOfAThousandIsServedNext() async throws {
            let (origin, urls) = try origin(1_000)
            try await withClient { (_, client) async throws in
                let task = client.prefetch(urls, template: template)
                let finished = Mutex(0)
                let watcher = Task {
                    for await step in task.progress { finished.withLock { $0 = step.finished } }
                }
                _ = try await client.load(ImageRequest(urls[999], fit: 20)).response
                let before = finished.withLock { $0 }
                #expect(before < 500, "\(before) URLs were started")
                let end = try await task.result
                #expect(end.finished + end.cancelled == end.total)
                #expect(end == PrefetchCounts(total: 1_000, finished: 1_000))
                await watcher.value
            }
            #expect(origin.requestCount("/999.jpg") == 1)
        }

        @Test func itGoesOnUnderTheNextCoordinator() async throws {
            let (origin, urls) = try origin(200)
            try await withClient { (stack, client) async throws in
                let task = client.prefetch(urls, template: template)
                for await _ in task.progress { break }
                #expect(try stack.run(["drain", "coordinator"]).exitStatus == 0)
                #expect(try await task.result == PrefetchCounts(total: 200, finished: 200))
            }
            #expect(origin.requestCount("/199.jpg") == 1)
        }

        @Test func theCommandLinePrefetchesAListAndCounts() async throws {
            let (origin, urls) = try origin(3)
            origin.route("/gone.jpg", .status(404))
            let list =
                "# images\n\n" + (urls + [origin.url("/gone.jpg")]).joined(separator: "\r\n")
            try await withStack { stack in
                let end = try stack.run(
                    ["prefetch", urls[0], "-f", "-", "--resize", "20x20", "--concurrent", "2"],
                    input: Array(list.utf8)
                ).expect(66)
                let expected =
                    "loaded 4, already cached 0, failed 1 (1 invalidDownloadStatusCode)\n"
                #expect(end.outputText == expected)
                let gone = origin.url("/gone.jpg")
                let fault = "standard input:6: \(gone): invalidDownloadStatusCode (2001): "
                #expect(end.errorText.contains(fault), "\(end)")
                #expect(end.errorText.contains("httpStatus=404"))
                let again = try stack.run(["prefetch"] + urls + ["--resize", "20x20", "--json"])
                #expect(try again.json()["finished"]?.integer == 3)
                #expect(try again.json()["failed"]?.integer == 0)
                #expect(try again.json()["cached"]?.integer == 3)
                #expect(try again.json()["loaded"]?.integer == 0)
                #expect(origin.requestCount("/0.jpg") == 1)
            }
        }

        @Test func whatFailedIsNamedUpToALimit() async throws {
            let image = try Images.waves(width: 40, height: 30).jpeg(quality: 80)
            let origin = OriginServer("/a.jpg", .jpeg(image))
            let gone = (0..<20).map { origin.url("/gone/\($0).jpg") }
            try await withStack { stack in
                let line = ["prefetch", "no URL", origin.url("/a.jpg")] + gone
                let end = try stack.run(line)
                #expect(end.exitStatus == 64, "of the first URL: \(end)")
                #expect(
                    end.outputText
                        == "loaded 1, already cached 0, failed 21 (20 invalidDownloadStatusCode, "
                        + "1 invalidURL)\n")
                let lines = end.errorText.split(separator: "\n")
                let rest = try #require(
                    lines.firstIndex { $0.hasSuffix("more failed; use a shorter list") },
                    "\(end)")
                #expect(
                    lines[rest] == "imagebus prefetch: and 5 more failed; use a shorter list")
                let next = lines[(rest + 1)...].map {
                    String($0.dropFirst("imagebus prefetch: ".count))
                }
                #expect(
                    Set(next) == [
                        "next: pass a URL such as https://example.com/photo.jpg",
                        "next: check the URL: curl -sI URL",
                    ])
                let answer = try stack.run(line + ["--json"]).json()
                let failures = try #require(answer["failures"]?.array)
                #expect(failures.count == 16)
                let urls = failures.compactMap { $0["url"]?.text }
                #expect(Set(urls).isSubset(of: Set(gone + ["no URL"])), "\(urls)")
                let codes = failures.compactMap { $0["error"]?["code"]?.integer }
                #expect(codes.count == 16 && Set(codes).isSubset(of: [1000, 1003, 2001]))
                #expect(answer["errors"]?["invalidDownloadStatusCode"]?.integer == 20)
                #expect(answer["errors"]?["invalidURL"]?.integer == 1)
                #expect(answer["cached"]?.integer == 1)
            }
        }

        @Test func ctrlCCancelsTheBatch() async throws {
            let slow = try SlowImage()
            try await withStack { stack in
                let run = try stack.begin(["prefetch", slow.origin.url("/slow.jpg")])
                #expect(await slow.origin.waitForRequest("/slow.jpg"))
                try run.send(.interrupt)
                let end = try run.end().expect(130)
                #expect(
                    end.outputText == "loaded 0, already cached 0, failed 0, cancelled 1\n")
                #expect(await slow.origin.waitForConnectionClosed("/slow.jpg"))
            }
        }
    }
}
