extension RealProcesses {
    /// One result that thousands of requests wait for.
    @Suite struct ManyAnswersTests {
        /// About the largest number of loads that a client may have.
        private static let each = 4_000
        /// Less than a quarter of the time for all replies together; with debug builds on a busy
        /// machine a single turn, limited to 20 ms, takes up to this.
        private static let brief = Duration.milliseconds(500)

        @Test func anOperatorIsAnsweredWhileOneImageIsDelivered() async throws {
            let (origin, gate) = (OriginServer(), Gate())
            let image = try Images.quadrants().jpeg(quality: 85)
            origin.route("/slow.jpg", .hangBody(until: gate, then: image))
            let clients = Effort.count("CROWDS", short: 4, long: 15)
            let random = Effort.generator("answers of one image")
            try await withStack { stack in
                let attackers = try (0..<clients).map { _ in
                    Sending(try Attacker(stack, origin: origin.url("/slow.jpg"), random))
                }
                let asking = await BackgroundThread.value {
                    Result {
                        for one in attackers { try one.value.waitForOneImage(Self.each) }
                        for one in attackers { try one.value.settle() }
                    }
                }
                try asking.get()
                #expect(await origin.waitForRequest("/slow.jpg", count: 1))
                let end = Monitor<Result<Int, any Error>?>(nil)
                let thread = BackgroundThread {
                    let result = Result {
                        for one in attackers { try one.value.receiveReplies(Self.each) }
                        return clients * Self.each
                    }
                    end.withLock { $0 = result }
                }
                let operators = try stack.operatorClient()
                _ = try await operators.status()
                gate.open()
                let status = try await Waits(until: end) { _ = try await operators.status() }
                #expect(thread.join())
                let replies = try #require(end.withLock { $0 }).get()
                print("\(replies) replies of one image in \(status.total); status \(status)")
                #expect(status.longest < max(Self.brief, status.total / 4))
                // If sending the requests takes long, the transfer times out as stalled and is
                // retried; each GET is the first or a retry.
                let retries = try await operators.status().counter("retries") ?? 0
                #expect(origin.requestCount("/slow.jpg") == 1 + retries)
            }
        }
    }
}
