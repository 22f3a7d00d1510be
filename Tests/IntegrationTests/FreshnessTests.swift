extension RealProcesses {
    /// respectCacheControl with real caches and origins (SEMANTICS §6.5 to §6.9). The origin sends
    /// the `Age`, so that tests don't have to wait.
    @Suite struct FreshnessTests {
        private let photo: ChangingImage

        init() throws { photo = try ChangingImage() }

        private func request(
            _ options: RequestOptions = .respectCacheControl, headers: [HTTPHeader] = []
        ) -> ImageRequest {
            var request = ImageRequest(photo.url, fit: 100)
            request.options = options
            request.headers = headers
            return request
        }

        private struct Case: CustomTestStringConvertible {
            let name: String
            let control: String?
            let age: Int?
            let header: (String, String)?
            let identity: Bool
            /// The `If-None-Match` fields of the requests after two loads.
            let conditions: [String?]
            var testDescription: String { name }

            init(
                _ name: String, _ control: String?, age: Int? = nil,
                header: (String, String)? = nil, identity: Bool = false, _ conditions: [String?]
            ) {
                (self.name, self.control, self.age) = (name, control, age)
                (self.header, self.identity, self.conditions) = (header, identity, conditions)
            }
        }

        private static let old = "Sun, 06 Nov 1994 08:49:37 GMT"
        private static let (once, asked): ([String?], [String?]) = ([nil], [nil, "\"1\""])

        private static let cases = [
            Case("fresh", "max-age=600", once),
            Case("stale", "max-age=60", age: 100, asked),
            Case("says nothing", nil, asked),
            Case("no-cache", "no-cache, max-age=600", asked),
            Case("no-store", "no-store, max-age=600", [nil, nil]),
            Case("s-maxage over max-age", "max-age=0, s-maxage=600", once),
            Case("s-maxage is over", "max-age=600, s-maxage=0", asked),
            Case("s-maxage is not for one", "max-age=600, s-maxage=0", identity: true, once),
            Case("private", "private, max-age=600", [nil, nil]),
            Case("private of one", "private, max-age=600", identity: true, once),
            Case("Expires is past", nil, header: ("Expires", old), asked),
            Case(
                "Expires is to come", nil, header: ("Expires", "Fri, 31 Dec 9999 23:59:59 GMT"),
                once),
            Case("Expires does not count", "max-age=600", header: ("Expires", "0"), once),
            Case("Date is old", "max-age=600", header: ("Date", old), asked),
            Case("must-revalidate while fresh", "must-revalidate, max-age=600", once),
        ]

        @Test(arguments: cases)
        private func theSecondLoadAsksAsTheOriginSays(row: Case) async throws {
            photo.answer(photo.old, row.control, age: row.age, row.header.map { [$0] } ?? [])
            let headers = row.identity ? [HTTPHeader(name: "X-Token", value: "me")] : []
            try await withClient { stack, client in
                let first = try await client.load(request(headers: headers)).response
                _ = try await stack.awaitIdle()
                let second = try await client.load(request(headers: headers)).response
                #expect(first.bytes?.array == second.bytes?.array)
                #expect(photo.conditions == row.conditions)
                let isKept = row.conditions != [nil, nil]
                #expect(second.cacheType == (isKept ? .memory : .none))
                // Other loads aren't delayed by stale entries.
                let before = photo.requestCount
                _ = try await stack.awaitIdle()
                let plain = try await client.load(request([], headers: headers)).response
                #expect(photo.requestCount == (isKept ? before : before + 1))
                #expect(plain.validity == nil)
            }
        }

        /// A 304 refreshes the image without decoding or encoding it again (RFC 9111 §4.3.4).
        @Test func whatIsStaleIsConfirmedBeforeItIsDelivered() async throws {
            photo.answer(photo.old, "max-age=60", age: 100)
            try await withClient { stack, client in
                _ = try await client.load(request()).response
                _ = try await stack.awaitIdle()
                photo.answer(photo.old, "max-age=600, stale-if-error=9")
                let confirmed = try await client.load(request()).response
                #expect(confirmed.cacheType == .memory)
                #expect(confirmed.timings.decode == 0 && confirmed.timings.transform == 0)
                #expect(confirmed.validity?.expiry?.freshFor == 600_000)
                #expect(confirmed.validity?.etag == "\"1\"")
                let again = try await client.load(request()).response
                #expect(again.validity == confirmed.validity)
                #expect(photo.conditions == [nil, "\"1\""])
                // Other sizes of the original are just as fresh.
                var small = ImageRequest(photo.url, fit: 50)
                small.options = .respectCacheControl
                _ = try await client.load(small).response
                #expect(photo.conditions == [nil, "\"1\""])
            }
        }

        @Test func whatHasChangedTakesThePlaceOfWhatIsStale() async throws {
            photo.answer(photo.old, "max-age=60", age: 100)
            try await withClient { stack, client in
                let first = try await client.load(request()).response
                _ = try await stack.awaitIdle()
                photo.answer(photo.new, etag: "\"2\"", "max-age=600")
                let second = try await client.load(request()).response
                #expect(second.cacheType == CacheTypes.none)
                #expect(second.bytes?.array != first.bytes?.array)
                _ = try await stack.awaitIdle()
                let third = try await client.load(request()).response
                #expect(third.bytes?.array == second.bytes?.array)
                #expect(third.cacheType == .memory)
                #expect(photo.conditions == [nil, "\"1\""])
            }
        }

        /// The gate is closed while the stale image is delivered, so delivery doesn't wait for the
        /// origin.
        @Test func whatMayBeStaleComesAtOnceAndIsAskedAboutOnce() async throws {
            photo.answer(photo.old, "max-age=60, stale-while-revalidate=900", age: 100)
            try await withClient { stack, client in
                let first = try await client.load(request()).response
                _ = try await stack.awaitIdle()
                let gate = Gate()
                photo.answer(
                    OriginBehavior.revalidated(photo.new, etag: "\"2\"", contentType: "image/jpeg")
                        .with(header: "Cache-Control", "max-age=600")
                        .changed { $0.headGate = gate })
                for _ in 0..<5 {
                    let stale = try await client.load(request()).response
                    #expect(stale.bytes?.array == first.bytes?.array)
                    #expect(stale.cacheType == .memory)
                }
                #expect(await photo.waitForRequest(count: 2))
                #expect(photo.conditions == [nil, "\"1\""])
                gate.open()
                _ = try await stack.awaitIdle()
                let fresh = try await client.load(request()).response
                #expect(fresh.bytes?.array != first.bytes?.array)
                #expect(fresh.cacheType == .memory)
                #expect(photo.conditions == [nil, "\"1\""], "one revalidation")
            }
        }

        /// Without a status the origin is gone.
        private static let failures: [(control: String, status: Int?, isServed: Bool)] = [
            ("max-age=60, stale-if-error=900", 503, true),
            ("max-age=60, stale-if-error=900", nil, true),
            ("max-age=60, stale-if-error=900", 404, false),
            ("max-age=60, stale-if-error=900, must-revalidate", 503, false),
            ("max-age=60", 503, false),
        ]

        @Test(arguments: failures)
        func anOriginThatFails(control: String, status: Int?, isServed: Bool) async throws {
            photo.answer(photo.old, control, age: 100)
            try await withClient { stack, client in
                let first = try await client.load(request()).response
                _ = try await stack.awaitIdle()
                let code: ErrorCode =
                    status == nil ? .connectionFailed : .invalidDownloadStatusCode
                if let status { photo.answer(.status(status)) } else { photo.origin.stop() }
                let task = client.load(request())
                if isServed {
                    let stale = try await task.response
                    #expect(stale.bytes?.array == first.bytes?.array)
                    #expect(stale.validity?.originFailure?.code == code)
                    let details = stale.validity?.originFailure?.details
                    #expect(details?["httpStatus"] == status.map { "\($0)" })
                    let file = "\(stack.cacheDirectory)/out.jpg"
                    let run = try stack.get([
                        photo.url, "--resize", "100x100", "--format", "jpeg",
                        "--respect-cache-control", "--json", "-o", file,
                    ]).expect(0)
                    let freshness = try run.json()["freshness"]
                    #expect(freshness?["staleFor"]?.text == "\(code)")
                    #expect(freshness?["fresh"]?.integer == 0)
                    #expect(freshness?["age"]?.integer ?? 0 >= 100)
                    #expect(freshness?["etag"]?.text == "\"1\"")
                } else {
                    #expect(await task.errorCode == code)
                }
            }
        }

        /// The freshness stated by a 304 is stored: after a restart the stack doesn't revalidate
        /// until the image is stale again.
        @Test(arguments: [RequestOptions.respectCacheControl, .refreshCached])
        func aConfirmationOutlivesTheStack(options: RequestOptions) async throws {
            photo.answer(photo.old, "max-age=60", age: 100)
            try await withStack { stack in
                var client = try stack.client()
                let first = try await client.load(request()).response
                _ = try await stack.awaitIdle()
                photo.answer(photo.old, "max-age=600")
                _ = try await client.load(request(options)).response
                #expect(photo.conditions == [nil, "\"1\""])
                _ = try await stack.awaitIdle()
                try stack.stop()
                try stack.start()
                client = try stack.client()
                let second = try await client.load(request()).response
                #expect(second.bytes?.array == first.bytes?.array)
                #expect(second.cacheType == .disk)
                #expect(second.validity?.expiry?.freshFor == 600_000)
                // Another size is derived from the original, which is just as fresh.
                var small = ImageRequest(photo.url, fit: 50)
                small.options = .respectCacheControl
                _ = try await client.load(small).response
                #expect(photo.conditions == [nil, "\"1\""], "no revalidation")
                _ = try await stack.awaitIdle()
                // Stale again: a 304 that states so, also after a restart; then each load
                // revalidates.
                photo.answer(photo.old, "max-age=0")
                _ = try await client.load(request(.refreshCached)).response
                _ = try await stack.awaitIdle()
                try stack.stop()
                try stack.start()
                client = try stack.client()
                _ = try await client.load(request()).response
                #expect(photo.conditions == [nil, "\"1\"", "\"1\"", "\"1\""])
            }
        }

        /// The operator caps the staleness that origins may permit (SEMANTICS §6.6).
        @Test(arguments: [
            ("stale-while-revalidate=900", "stale-while-revalidate-max: 10s", false),
            ("stale-while-revalidate=900", "stale-while-revalidate-max: 30m", true),
            ("stale-while-revalidate=172800", "stale-while-revalidate-max: 2d", true),
            ("stale-if-error=900", "stale-if-error-max: 0", false),
            ("stale-if-error=900", "stale-while-revalidate-max: 0", true),
        ])
        func theConfigurationLimitsHowStaleAnImageMayBe(
            words: String, setting: String, isServed: Bool
        ) async throws {
            // A day and a half stale, within a limit of two days.
            let age = words.contains("172800") ? 130_000 : 100
            photo.answer(photo.old, "max-age=60, \(words)", age: age)
            let folder = TemporaryDirectory()
            let file = "profiles: {default: {rules: [{match: '*', \(setting)}]}}"
            try await withClient(folder.configuration(file)) { stack, client in
                _ = try await client.load(request()).response
                _ = try await stack.awaitIdle()
                photo.answer(.status(503))
                let task = client.load(request())
                if isServed {
                    #expect(try await task.response.bytes != nil)
                } else {
                    #expect(await task.errorCode == .invalidDownloadStatusCode)
                }
            }
        }

        /// Each reply states how long the image stays fresh, its validators and its digest,
        /// whatever served it; a 304 or a restart loses none of this.
        @Test func everyReplySaysFreshnessValidatorsAndDigest() async throws {
            let changed = "Sun, 06 Nov 1994 08:49:37 GMT"
            func setFreshness(_ freshFor: Int) {
                photo.answer(
                    photo.old, "max-age=\(freshFor)", age: 100, [("Last-Modified", changed)])
            }
            setFreshness(600)
            let folder = TemporaryDirectory()
            let file = folder.path + "/a.jpg"
            try await withStack { stack in
                func expect(_ tier: String, fresh: ClosedRange<Int>, _ more: [String] = []) throws {
                    let end = try stack.get(
                        [photo.url, "--respect-cache-control", "--json", "-o", file]
                            + ["--option", "wait-store-cache"] + more)
                    let answer = try end.json()
                    #expect(answer["cacheType"]?.text == tier, "\(end)")
                    let freshness = answer["freshness"]
                    #expect(fresh.contains(freshness?["fresh"]?.integer ?? -1), "\(tier): \(end)")
                    #expect(freshness?["age"]?.integer ?? 0 >= 100, "\(tier): \(end)")
                    #expect(freshness?["etag"]?.text == "\"1\"", "\(tier)")
                    #expect(freshness?["lastModified"]?.text == changed, "\(tier)")
                    // The reference value, from an independent tool.
                    let hash = try Tool.run(["openssl", "dgst", "-sha256", "-binary", file])
                    let base64 = try Tool.run(["base64", "-w0"], input: hash)
                    let digest = "sha-256=:\(String(decoding: base64, as: UTF8.self)):"
                    #expect(answer["digest"]?.text == digest, "\(tier)")
                }
                let disk = ["--context", "query-cache-type=disk"]
                try expect("none", fresh: 400...500)
                try expect("memory", fresh: 400...500)
                try expect("disk", fresh: 400...500, disk)
                // Nothing is stored, and the reply states the same.
                try expect("none", fresh: 400...500, ["--option", "from-loader-only"])
                let none = ["store", "original-store"].flatMap {
                    ["--context", "\($0)-cache-type=none"]
                }
                try expect("none", fresh: 400...500, ["--option", "from-loader-only"] + none)
                // The 304 states new values; the reply before it still has the old ones.
                setFreshness(6_000)
                try expect("memory", fresh: 400...500, ["--option", "refresh-cached"])
                try expect("memory", fresh: 5_800...5_900)
                _ = try await stack.awaitIdle()
                try stack.stop()
                try stack.start()
                try expect("disk", fresh: 5_800...5_900)
            }
        }
    }
}
