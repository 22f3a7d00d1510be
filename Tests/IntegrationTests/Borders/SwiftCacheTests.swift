extension RealProcesses {
    /// Caches written with the Swift SDK, started by `serve`.
    @Suite struct SwiftCacheTests {
        private let folder = TemporaryDirectory()
        private let records = TemporaryDirectory()
        private let origin = OriginServer()

        /// The timeout is the largest permitted, so that a slow machine doesn't cause misses.
        private func withCache(
            _ program: TestedProgram, _ arguments: String...,
            body: (StackHarness) async throws -> Void
        ) async throws {
            let words = try ([Programs.path(program)] + arguments).joined(separator: ", ")
            let text = """
                pools: {mine: {kind: cache, trust: external, credit: 16, command: [\(words)]}}
                caches:
                  own:
                  theirs: {pool: mine, timeout: 10000}
                  second: {pool: mine, timeout: 10000}
                  both: {of: [own, theirs], store: serial}

                """
            try await withStack(folder.configuration(text), decoders: 1) { stack in
                try await stack.awaitWorker()
                try await body(stack)
            }
        }

        /// Serves a new image and returns its URL.
        private func serve(_ name: String, seed: UInt64) throws -> (url: String, picture: [UInt8]) {
            let picture = try Images.noise(width: 60, height: 40, seed: seed).png()
            origin.route("/\(name)", .bytes(picture))
            return (origin.url("/\(name)"), picture)
        }

        /// The relevant fields of a reply.
        private struct Answer {
            let key: String
            let cacheType: String
            let bytes: [UInt8]
        }

        /// Loads in a separate process with that cache for results and originals, and waits until
        /// the entries are stored.
        private func load(
            _ url: String, _ cache: String, _ stack: StackHarness, _ more: String...
        ) throws -> Answer {
            let out = folder.file("out")
            let end = try stack.get(
                [url, "--json", "-o", out, "--option", "wait-store-cache"]
                    + ["image-cache", "original-image-cache"]
                    .flatMap { ["--context", "\($0)=\(cache)"] } + more)
            try #require(end.exitStatus == 0, "\(end)")
            let answer = try end.json()
            return Answer(
                key: try #require(answer["key"]?.text),
                cacheType: try #require(answer["cacheType"]?.text),
                bytes: try #require(FileBytes.read(out)))
        }

        private func tiers(_ key: String, _ cache: String, _ stack: StackHarness) throws -> String {
            let end = try stack.run(["cache", "contains", key, "--cache", cache])
            return end.exitStatus == 0 ? String(end.outputText.dropLast()) : "\(end)"
        }

        private func remove(
            _ words: [String], from stack: StackHarness, cache: String = "theirs"
        ) throws {
            try stack.run(["cache"] + words + ["--cache", cache]).expect(0)
        }

        // MARK: - The example cache

        /// Alone, and as one of two caches of which the other has lost its entries.
        @Test(arguments: ["theirs", "both"])
        func whatOneClientHasStoredAnotherHits(cache: String) async throws {
            try await withCache(.dictionaryCache) { stack in
                let (url, picture) = try serve("a.png", seed: 1)
                let first = try load(url, cache, stack, "--resize", "20x20")
                #expect(first.cacheType == "none")
                #expect(try tiers(first.key, "theirs", stack) == "disk")
                #expect((try tiers(first.key, "own", stack) == "none") == (cache == "theirs"))

                try remove(["clear"], from: stack, cache: "own")
                #expect(try tiers(first.key, "own", stack) == "none")
                let second = try load(url, cache, stack, "--resize", "20x20")
                #expect(second.cacheType == "disk" && second.bytes == first.bytes)
                #expect(try Pixels(decoding: second.bytes).size == "20x13")

                // The original is stored as well, unchanged and for another result.
                try remove(["clear"], from: stack, cache: "own")
                let whole = try load(url, cache, stack)
                #expect(whole.cacheType == "disk" && whole.bytes == picture)
                let other = try load(url, cache, stack, "--resize", "30x30")
                #expect(try Pixels(decoding: other.bytes).size == "30x20")
                #expect(origin.requestCount("/a.png") == 1)

                let report = try await stack.awaitIdle()
                #expect(try #require(report.counter("foreignCacheHits.mine")) >= 2)
                #expect(report.counter("foreignCacheErrors.mine") == 0)
                #expect(report.worker()?.restarts == 0)
            }
        }

        @Test func whatIsRemovedIsGone() async throws {
            try await withCache(.dictionaryCache) { stack in
                let (url, picture) = try serve("a.png", seed: 2)
                let (other, _) = try serve("b.png", seed: 3)
                let kept = try load(other, "theirs", stack, "--tag", "kept").key
                let second = try load(url, "second", stack).key
                let removals = [
                    ["remove", url], ["remove", "--url", url],
                    ["remove", "--prefix", origin.url("/a")],
                    ["remove", "--tag", "red"], ["remove", "--url", url, "--older-than", "0s"],
                ]
                for (number, words) in removals.enumerated() {
                    let answer = try load(url, "theirs", stack, "--tag", "red")
                    #expect(answer.cacheType == "none" && answer.bytes == picture, "\(words)")
                    #expect(origin.requestCount("/a.png") == 2 + number, "\(words)")
                    #expect(try load(url, "theirs", stack).cacheType == "disk", "\(words)")
                    for mild in [["--older-than", "1d"], ["--tag", "blue"]] {
                        try remove(["remove"] + mild, from: stack)
                    }
                    #expect(try tiers(answer.key, "theirs", stack) == "disk", "\(words)")
                    try remove(words, from: stack)
                    #expect(try tiers(answer.key, "theirs", stack) == "none", "\(words)")
                    #expect(try tiers(kept, "theirs", stack) == "disk", "\(words)")
                    #expect(try tiers(second, "second", stack) == "disk", "\(words)")
                }
                // One of the two caches of a pool.
                try remove(["clear"], from: stack)
                #expect(try tiers(kept, "theirs", stack) == "none")
                #expect(try tiers(second, "second", stack) == "disk")
                #expect(try await stack.awaitIdle().worker()?.restarts == 0)
            }
        }

        @Test func whatIsBeyondItsLimitIsNotKept() async throws {
            try await withCache(.dictionaryCache, "--bytes", "20000") { stack in
                let pictures = try (0..<4).map { try serve("\($0).png", seed: $0) }
                let size = pictures[0].picture.count
                #expect(size < 10_000 && size > 5_000, "two fit, three do not")
                let keys = try pictures.map { try load($0.url, "theirs", stack).key }
                let there = try keys.map { try tiers($0, "theirs", stack) }
                #expect(there == ["none", "none", "disk", "disk"])
            }
        }

        // MARK: - A lost cache

        /// It gets a query, doesn't answer, and is killed.
        @Test func aLoadGoesOnWhereTheCacheIsKilledInTheMiddle() async throws {
            try await withCache(.dictionaryCache) { stack in
                let (url, picture) = try serve("a.png", seed: 4)
                #expect(try load(url, "theirs", stack).cacheType == "none")
                #expect(try load(url, "theirs", stack).cacheType == "disk")
                let process = try ProcessDescriptor(
                    ProcessID(try await stack.awaitWorker().pid))
                try process.send(.stop)
                let out = folder.file("killed")
                let run = try stack.startGet([
                    url, "-o", out, "--context", "image-cache=theirs",
                    "--context", "original-image-cache=theirs", "--timeout", "5m",
                ])
                // It has the query, unless the load has already timed out.
                _ = try await stack.awaitStatus("the question") {
                    $0.worker()?.jobs == 1 || origin.requestCount("/a.png") > 1
                }
                try process.send(.kill)
                try run.end().expect(0)
                #expect(FileBytes.read(out) == picture)
                #expect(origin.requestCount("/a.png") == 2)

                try await stack.awaitWorker(restarts: 1)
                #expect(try load(url, "theirs", stack).bytes == picture)
                let count = origin.requestCount("/a.png")
                let again = try load(url, "theirs", stack)
                #expect(again.cacheType == "disk" && again.bytes == picture)
                #expect(origin.requestCount("/a.png") == count)
                try await stack.awaitIdle()
            }
        }

        @Test func manyLoadsGoOnWhereTheCacheIsKilled() async throws {
            try await withCache(.dictionaryCache) { stack in
                let pictures = try (0..<12).map { try serve("\($0).png", seed: 10 + $0) }
                let process = try ProcessDescriptor(
                    ProcessID(try await stack.awaitWorker().pid))
                let client = try stack.client()
                try await withThrowingTaskGroup(of: Bool.self) { group in
                    for (url, picture) in pictures {
                        var request = ImageRequest(url: url)
                        request.context.cache = "theirs"
                        request.context.originalCache = "theirs"
                        let asked = request
                        group.addTask {
                            for _ in 0..<4 {
                                let response = try await client.load(asked).response
                                if response.bytes?.array != picture { return false }
                            }
                            return true
                        }
                    }
                    #expect(try await group.next() == true)
                    try process.send(.kill)
                    for try await isRight in group { #expect(isRight) }
                }
                try await stack.awaitWorker(restarts: 1)
                // If many queries were lost with it, the pool is skipped for a while.
                _ = try await stack.awaitStatus(
                    "a hit of its next life", timeout: .seconds(90)
                ) { _ in
                    (try? load(pictures[0].url, "theirs", stack))?.cacheType == "disk"
                }
                try await stack.awaitIdle()
            }
        }

        // MARK: - Wrong and failing caches

        private func record(_ key: String) -> String {
            "theirs\u{1F}\(key)".utf8
                .map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        }

        /// A record with another body and the matching digest, parsed and written by an independent
        /// program.
        private func sealed(_ record: [UInt8], with body: [UInt8]) throws -> [UInt8] {
            let script = """
                import hashlib, struct, sys
                record, body = (open(name, "rb").read() for name in sys.argv[1:])
                mark, length, stored, digest = struct.unpack_from("<4sIQ16s", record)
                facts = record[32 : 32 + length]
                assert mark == b"IBC1"
                assert digest == hashlib.blake2b(record[32:], digest_size=16).digest()
                digest = hashlib.blake2b(facts + body, digest_size=16).digest()
                head = struct.pack("<4sIQ16s", mark, length, stored, digest)
                sys.stdout.buffer.write(head + facts + body)
                """
            return try Tool.run([
                "python3", "-c", script, folder.write(record, to: "record"),
                folder.write(body, to: "body"),
            ])
        }

        /// Whatever a cache returns, clients only get the bytes of the origin, which are stored
        /// again.
        @Test func aRecordThatLiesIsRefused() async throws {
            try await withCache(.extensionProbe, "cache", records.path) { stack in
                let (url, picture) = try serve("a.png", seed: 5)
                let key = try load(url, "theirs", stack).key
                let whole = try #require(FileBytes.read(records.file(record(key))))
                #expect(Array(whole.suffix(picture.count)) == picture)
                #expect(try load(url, "theirs", stack).cacheType == "disk")
                let smaller = try Images.noise(width: 10, height: 10, seed: 5).png()
                let jpeg = try Images.quadrants(width: 60, height: 40).jpeg(quality: 90)
                var (torn, longer) = (whole, whole)
                torn[torn.count - 100] ^= 1
                longer.replaceSubrange(4..<8, with: [0xFF, 0xFF, 0xFF, 0x7F])
                let sealed = ["no image"].map { Array($0.utf8) } + [smaller, jpeg]
                let lies =
                    try sealed.map { try self.sealed(whole, with: $0) }
                    + [try self.sealed(whole, with: []), torn, longer, whole.dropLast(), []]
                    + [[UInt8](repeating: 0xFF, count: 100)]
                for (number, lie) in lies.enumerated() {
                    records.write(lie, to: record(key))
                    let answer = try load(url, "theirs", stack)
                    #expect(answer.bytes == picture && answer.cacheType == "none", "\(number)")
                    #expect(origin.requestCount("/a.png") == 2 + number, "\(number)")
                    let kept = try #require(FileBytes.read(records.file(record(key))))
                    #expect(Array(kept.suffix(picture.count)) == picture, "\(number)")
                    #expect(try load(url, "theirs", stack).cacheType == "disk", "\(number)")
                }
                let report = try await stack.awaitIdle()
                #expect(report.counter("foreignCacheRefused.mine") == sealed.count)
                #expect(report.worker()?.restarts == 0)
            }
        }

        /// A function that throws means a miss for a load; a removal reports the error.
        @Test func whatAnAuthorDoesNotForeseeIsAMiss() async throws {
            try await withCache(.extensionProbe, "cache", records.path) { stack in
                for name in ["unread.png", "unwritten.png"] {
                    let (url, picture) = try serve(name, seed: 6)
                    for count in 1...2 {
                        let answer = try load(url, "theirs", stack)
                        #expect(answer.bytes == picture && answer.cacheType == "none")
                        #expect(origin.requestCount("/\(name)") == count)
                    }
                }
                let (url, picture) = try serve("unmoved.png", seed: 7)
                let key = try load(url, "theirs", stack).key
                let end = try stack.run(["cache", "remove", key, "--cache", "theirs"])
                #expect(end.exitStatus != 0 && end.errorText.contains("Errno"), "\(end)")
                // The entry exists but is no longer trusted.
                #expect(FileBytes.read(records.file(record(key))) != nil)
                let answer = try load(url, "theirs", stack)
                #expect(answer.bytes == picture && answer.cacheType == "none")
                // This cache doesn't support listing keys.
                let some = try stack.run(["cache", "remove", "--url", url, "--cache", "theirs"])
                #expect(some.exitStatus != 0, "\(some)")
                #expect(some.errorText.contains("single keys or of all keys"), "\(some)")
                #expect(try await stack.awaitIdle().worker()?.restarts == 0)
            }
        }
    }
}
