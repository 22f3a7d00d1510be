import Synchronization

/// An attack on a stack with one decoder: files that exceed a limit, requested one after the other
/// while another HTTP client loads other images.
struct LimitAttack: Sendable {
    /// Serves the files of the attack, and the other images below `/good/`.
    let origin: OriginServer
    /// A description of the files for the output.
    let files: String
    /// The time between two requests of the other HTTP client.
    let interval: Duration
    /// The path at the origin of each file of the attack, by its number.
    let file: @Sendable (Int) -> String

    /// Expects that all files of the attack are refused, more than four of them, and that the other
    /// images are loaded in time.
    func expectRefusalsThatDelayNobody() async throws {
        origin.route("/good/*", .bytes(try Images.quadrants().png()))
        try await withGateway { gateway, stack in
            let memory = try ShippedMemory(stack, gateway)
            let httpClient = HonestHTTPClient(port: gateway.port, interval: interval)
            let undisturbed = await httpClient.load(30) { path("/good/u\($0)") }
            let isOver = Atomic(false)
            let refused = Monitor(0)
            let others = Atomic(0)
            let longestJob = LongestDuration()
            let attack = BackgroundThread { [port = gateway.port] in
                for number in 0..<10_000 where !isOver.load(ordering: .relaxed) {
                    guard let client = try? RawClient(port: port, from: 9) else { return }
                    client.get(path(file(number)))
                    let answer = longestJob.measure { client.whole() }
                    if answer.status == 422, answer.text.contains("limitExceeded") {
                        refused.withLock { $0 += 1 }
                    } else {
                        others.add(1, ordering: .relaxed)
                    }
                }
            }
            let beside = await httpClient.load(60) { path("/good/b\($0)") }
            let wereRefused = await refused.wait { $0 > 4 }
            isOver.store(true, ordering: .relaxed)
            #expect(await attack.join())
            beside.expectUndisturbed(
                than: undisturbed, beside: files, longestJob: longestJob.value)
            memory.expectNoKills()
            #expect(wereRefused)
            #expect(others.load(ordering: .relaxed) == 0)
            #expect(try await stack.counter("crashes") == 0)
        }
    }

    private func path(_ name: String) -> String { "/unsafe/w:40/f:png/plain/\(origin.url(name))" }
}
