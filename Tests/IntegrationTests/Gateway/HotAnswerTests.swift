extension RealProcesses {
    /// Responses that a gateway repeats (SEMANTICS §5.24) equal those that the stack would give
    /// now.
    @Suite struct HotAnswerTests {
        private let photo: ChangingImage

        init() throws { photo = try ChangingImage() }

        private func run(
            _ body: (GatewayProcess, StackHarness) async throws -> Void
        ) async throws {
            photo.answerPlainly(photo.old)
            try await withGateway(["--unsigned", "--assume-fresh", "86400"], body)
        }

        private func path(_ options: String = "f:png") -> String {
            "/unsafe/\(options)/plain/\(photo.url)"
        }

        /// Until the gateway answers without the coordinator.
        private func heat(
            _ gateway: GatewayProcess, _ stack: StackHarness, _ target: String, _ more: String = ""
        ) async throws -> RawClient.Response {
            let before = try await stack.awaitStatus("a status") { _ in true }
            let count = before.counter("voucherHits") ?? 0
            try await pollUntil("answers that the gateway repeats") {
                for _ in 0..<20 { _ = try gateway.get(target, more) }
                let report = try await stack.awaitStatus("a status") { _ in true }
                return report.counter("voucherHits") ?? 0 > count
            }
            return try gateway.get(target, more)
        }

        @Test func whatWasRemovedIsNotGivenAgain() async throws {
            try await run { gateway, stack in
                let first = try await heat(gateway, stack, path())
                #expect(first.status == 200)
                let admin = try stack.operatorClient()
                var last = first
                for round in 1...40 {
                    photo.answerPlainly(round.isMultiple(of: 2) ? photo.old : photo.new)
                    _ = try await admin.remove(EntrySelection(url: photo.url))
                    let next = try gateway.get(path())
                    #expect(next.status == 200 && next.body != last.body, "round \(round)")
                    for _ in 0..<5 { #expect(try gateway.get(path()).body == next.body) }
                    last = next
                }
            }
        }

        @Test func eachKindOfRequestHasItsOwn() async throws {
            try await run { gateway, stack in
                let types = [
                    "image/avif,*/*": "image/avif", "image/webp,*/*;q=0.5": "image/webp",
                    "image/jpeg": "image/jpeg", "*/*": "image/jpeg", "image/png": "image/png",
                    "image/avif;q=0,image/webp": "image/webp",
                ]
                let target = path("rs:fit:40:40")
                for accept in types.keys {
                    _ = try await heat(gateway, stack, target, "Accept: \(accept)\r\n")
                }
                for _ in 0..<5 {
                    for (accept, type) in types {
                        let answer = try gateway.get(target, "Accept: \(accept)\r\n")
                        #expect(answer.status == 200 && answer.field("Content-Type") == type)
                        #expect(answer.field("Vary")?.contains("Accept") == true)
                    }
                }
            }
        }

        @Test func conditionsAndRangesHold() async throws {
            try await run { gateway, stack in
                let whole = try await heat(gateway, stack, path())
                let tag = try #require(whole.field("ETag"))
                for _ in 0..<20 {
                    let same = try gateway.get(path(), "If-None-Match: \(tag)\r\n")
                    #expect(same.status == 304 && same.body.isEmpty)
                    // Clients built on http_parser would wait for as many bytes.
                    #expect(same.field("Content-Length") == "0")
                    let other = try gateway.get(path(), "If-None-Match: \"other\"\r\n")
                    #expect(other.status == 200 && other.body == whole.body)
                    let part = try gateway.get(path(), "Range: bytes=3-7\r\n")
                    #expect(part.status == 206 && part.body == Array(whole.body[3..<8]))
                    let outside = try gateway.get(path(), "Range: bytes=999999-\r\n")
                    #expect(outside.status == 416)
                    let client = try gateway.connect()
                    client.send("HEAD \(path()) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                    let head = client.whole()
                    #expect(head.status == 200 && head.body.isEmpty)
                    #expect(head.field("Content-Length") == "\(whole.body.count)")
                    #expect(try gateway.get(path()).body == whole.body)
                }
            }
        }

        /// One connection, many requests: the same response each time, and each is counted.
        @Test func aConnectionIsAnsweredManyTimes() async throws {
            try await run { gateway, stack in
                let whole = try await heat(gateway, stack, path())
                let before = try await stack.awaitStatus("a status") { _ in true }
                let client = try gateway.connect()
                for _ in 0..<200 {
                    client.send("GET \(path()) HTTP/1.1\r\nHost: a\r\n\r\n")
                    let answer = client.whole()
                    #expect(answer.status == 200 && answer.body == whole.body)
                }
                let count = (before.counter("requests") ?? 0) + 200
                _ = try await stack.awaitStatus("200 requests to be told") {
                    $0.counter("requests") ?? 0 >= count
                }
            }
        }
    }
}
