extension RealProcesses {
    /// A cancel stops the transfer and doesn't affect other loads.
    @Suite struct CancellationTests {
        @Test(arguments: [false, true])
        func aGetThatEndsClosesTheConnectionToTheOrigin(isKilled: Bool) async throws {
            let slow = try SlowImage()
            try await withStack { stack in
                let load = try await slow.begin(stack)
                try load.send(isKilled ? .kill : .interrupt)
                #expect(await slow.origin.waitForConnectionClosed("/slow.jpg"))
                let end = try load.end()
                if isKilled { return }
                #expect(try end.expect(130).json()["error"]?["code"]?.integer == 2002)
            }
        }

        @Test func cancellingTheAwaitingTaskCancelsTheLoad() async throws {
            let slow = try SlowImage()
            try await withClient { _, client in
                let load = client.load(slow.origin.url("/slow.jpg"))
                let waiter = Task { await load.errorCode }
                #expect(await slow.origin.waitForRequest("/slow.jpg"))
                waiter.cancel()
                #expect(await waiter.value == .cancelled)
                #expect(await slow.origin.waitForConnectionClosed("/slow.jpg"))
            }
        }

        @Test func aGroupIsCancelledAsAWhole() async throws {
            let slow = try SlowImage()
            try await withClient { (_, client) async throws in
                let group = GroupID(Identifier128(high: 1, low: 2))
                let url = slow.origin.url("/slow.jpg")
                let members = (1...5).map {
                    client.load(ImageRequest(url, fit: $0 * 10), group: group)
                }
                let other = client.load(ImageRequest(url, fit: 100))
                #expect(await slow.origin.waitForRequest("/slow.jpg"))
                client.cancel(group: group)
                for member in members {
                    #expect(await member.errorCode == .cancelled)
                }
                slow.gate.open()
                #expect(try await other.response.status == .ok)
            }
        }
    }
}
