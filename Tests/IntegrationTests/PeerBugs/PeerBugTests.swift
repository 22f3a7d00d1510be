import Glibc

extension RealProcesses {
    /// Bugs that similar libraries had to fix, by their numbers in `PEERS.md`: those that need a
    /// stack.
    @Suite struct PeerBugTests {
        private let origin = OriginServer()

        private static let usual = ["--allow-private-networks", "--low-speed", "0"]

        /// Serves the first half of an image at once, and the rest when the turnstile admits it.
        private func halve(_ image: [UInt8], at path: String, _ turnstile: Turnstile) -> String {
            origin.route(path, .stepped(image, chunk: (image.count + 49) / 50, by: turnstile))
            turnstile.admit(25)
            return origin.url(path)
        }

        private func photograph() throws -> [UInt8] {
            try Images.waves(width: 640, height: 480).jpeg(quality: 90, progressive: true)
        }

        /// A partial image is never cached: not during the load, not after its cancel, and not in
        /// place of the image.
        @Test func bug03_noPreviewIsStoredOrTakesTheImagesPlace() async throws {
            let image = try photograph()
            try await withClient(Self.usual, decoders: 1) { stack, client in
                for isCancelled in [true, false] {
                    let turnstile = Turnstile()
                    let path = "/bug03-\(isCancelled).jpg"
                    var request = ImageRequest(url: halve(image, at: path, turnstile))
                    request.options = [.progressiveLoad, .waitStoreCache]
                    request.timeoutMilliseconds = 120_000
                    let task = client.load(request)
                    var partials = 0
                    for await event in task.events {
                        guard case .partial = event else { continue }
                        partials += 1
                        var cached = ImageRequest(url: request.url)
                        cached.options = .fromCacheOnly
                        #expect(try await client.load(cached).response.status == .miss)
                        if isCancelled { task.cancel() } else { turnstile.admit(50) }
                    }
                    #expect(partials >= 1)
                    #expect(await task.errorCode == (isCancelled ? .cancelled : nil))
                    try await stack.awaitIdle()
                    for tier in [CacheTypes.memory, .disk] {
                        var cached = ImageRequest(url: request.url)
                        cached.options = .fromCacheOnly
                        cached.queryCacheTypes = tier
                        cached.originalQueryCacheTypes = tier
                        let answer = try await client.load(cached).response
                        #expect(answer.bytes?.array == (isCancelled ? nil : image), "\(tier.name)")
                    }
                }
            }
        }

        /// Cancels race with replies: each load ends once, in one of two ways.
        @Test func bug04_aCompletionIsCalledOnceWhereACancelRacesWithTheReply() async throws {
            let image = try Images.waves(width: 60, height: 40).jpeg(quality: 80)
            origin.route("/*", .jpeg(image))
            try await withClient(Self.usual, decoders: 1) { stack, client in
                let count = 400
                let ends = Recorder<Int>()
                for number in 0..<count {
                    // Some are hits, some join others, some are new.
                    let request = ImageRequest(origin.url("/bug04-\(number % 50).jpg"), fit: 20)
                    let task = client.load(request, on: .inline) { result in
                        switch result {
                        case .success: ends.append(number)
                        case .failure(let error):
                            #expect(error.code == .cancelled)
                            ends.append(number)
                        }
                    }
                    if number % 3 == 1 { sched_yield() }
                    if number % 4 != 0 { task.cancel() }
                }
                #expect(await ends.wait(count: count) != nil)
                try await stack.awaitIdle()
                #expect(ends.values.sorted() == Array(0..<count))
            }
        }

        /// A load canceled while it is queued never reaches the origin, and the loads after it do.
        @Test func bug05_whatIsCancelledWhileItWaitsIsNotDownloaded() async throws {
            let image = try Images.waves(width: 60, height: 40).jpeg(quality: 80)
            origin.route("/*", .jpeg(image))
            let gate = Gate()
            origin.route("/bug05-first.jpg", .hangBody(until: gate, then: image))
            try await withClient(Self.usual + ["--fetches-per-host", "1"]) { stack, client in
                let first = client.load(origin.url("/bug05-first.jpg"))
                #expect(await origin.waitForRequest("/bug05-first.jpg"))
                let waiting = client.load(origin.url("/bug05-waiting.jpg"))
                _ = try await stack.awaitStatus("a fetch that waits") { report in
                    report.stages.contains { $0.stage == "fetch" && $0.queued + $0.running == 2 }
                }
                let last = client.load(origin.url("/bug05-last.jpg"))
                waiting.cancel()
                #expect(await waiting.errorCode == .cancelled)
                gate.open()
                #expect(await first.errorCode == nil)
                #expect(await last.errorCode == nil)
                try await stack.awaitIdle()
                #expect(origin.requestCount("/bug05-waiting.jpg") == 0)
                #expect(origin.requestCount("/bug05-last.jpg") == 1)
            }
        }

        /// A cancel immediately after its load takes effect, however far the load has got.
        @Test func bug06_aCancelInTheBreathOfItsLoadHolds() async throws {
            let gate = Gate()
            origin.route("/*", .hangBody(until: gate, then: [1, 2, 3]))
            try await withClient(Self.usual) { stack, client in
                for number in 0..<200 {
                    let task = client.load(origin.url("/bug06-\(number).jpg"))
                    if number % 2 == 1 { sched_yield() }
                    task.cancel()
                    // A lost cancel would take until the timeout.
                    let code = await task.errorCode
                    try #require(code == .cancelled, "load \(number)")
                }
                let idle = try await stack.awaitIdle()
                #expect(idle.counter("queuedJobs") ?? 0 == 0)
            }
        }

        /// A transfer that breaks off before and after the response head ends with all bytes, and
        /// bytes that have arrived aren't requested again.
        @Test func bug08_whatHasComeIsKeptWhereATransferBreaksOff() async throws {
            let image = try photograph()
            let half = image.count / 2
            let rest = Array(image[half...])
            var part = OriginResponse(rest, contentType: "image/jpeg")
            part.status = 206
            part.headers += [
                ("ETag", "\"one\""),
                ("Content-Range", "bytes \(half)-\(image.count - 1)/\(image.count)"),
            ]
            var whole = OriginResponse(image, contentType: "image/jpeg")
            whole.headers += [("ETag", "\"one\""), ("Accept-Ranges", "bytes")]
            let asked = Recorder<String>()
            let (first, second) = (whole, part)
            origin.route(
                "/bug08.jpg",
                .sequence([
                    .closing,
                    .respond(first).changed { $0.closesAfter = half },
                    OriginBehavior { request in
                        asked.append(request.header("range") ?? "all")
                        return second
                    },
                ]))
            try await withStack(Self.usual) { stack in
                let answer = try await stack.client().load(origin.url("/bug08.jpg")).response
                #expect(answer.bytes?.array == image)
                #expect(asked.values == ["bytes=\(half)-"])
            }
        }

        /// A cached original that can't be read any more is fetched again, with partial images as
        /// for any other fetch.
        @Test func bug10_aDamagedCacheEntryDoesNotDisableLaterPreviews() async throws {
            let image = try photograph()
            try #require(image.count > 16 << 10, "stored as a separate file")
            origin.route("/bug10.jpg", .jpeg(image))
            let arguments = Self.usual + ["--memory-cache", "no"]
            try await withClient(arguments, decoders: 1) { stack, client in
                var request = ImageRequest(origin.url("/bug10.jpg"), fit: 200)
                request.options = .waitStoreCache
                _ = try await client.load(request).response
                try await stack.awaitIdle()
                let found = try Tool.run([
                    "find", stack.cacheDirectory + "/files", "-type", "f", "-size", "+16k",
                ])
                let files = String(decoding: found, as: UTF8.self).split(separator: "\n")
                try #require(files.count == 1)
                try Tool.run(["truncate", "--size=100", String(files[0])])
                let turnstile = Turnstile()
                _ = halve(image, at: "/bug10.jpg", turnstile)
                request = ImageRequest(origin.url("/bug10.jpg"), fit: 300)
                request.options = .progressiveLoad
                request.timeoutMilliseconds = 120_000
                let task = client.load(request)
                var partials = 0
                for await event in task.events {
                    guard case .partial = event else { continue }
                    partials += 1
                    turnstile.admit(50)
                }
                #expect(partials >= 1)
                #expect(try await task.response.info?.size.width == 300)
                #expect(origin.requestCount("/bug10.jpg") == 2)
            }
        }
    }
}
