import Synchronization
import TestKit
import Testing

extension RealProcesses {
    /// Small PNGs that inflate to gigabytes, while another HTTP client loads other images.
    @Suite struct InflationAttackTests {
        private let origin = OriginServer()

        private func path(_ name: String, width: Int = 40) -> String {
            "/unsafe/w:\(width)/f:png/plain/\(origin.url(name))"
        }

        @Test func whatInflatesToMoreThanItsPixelsIsRefusedAndDelaysNobody() async throws {
            origin.route("/pixels/*", .bytes(PNGOfZeros.file(pixelBytes: 512 << 20)))
            let text = PNGOfZeros.metadata("iTXt", 64 << 20)
            let texts = Array(repeating: text, count: 24)
            origin.route("/texts/*", .bytes(PNGOfZeros.file(texts)))
            origin.route("/good/*", .bytes(try Images.quadrants().png()))
            try await withStack(decoders: 1) { stack in
                let gateway = try GatewayProcess(before: stack, ["--unsigned"])
                let memory = try ShippedMemory(stack, gateway)
                let httpClient = HonestHTTPClient(port: gateway.port, interval: .milliseconds(100))
                let undisturbed = await httpClient.load(30) { path("/good/u\($0)") }
                let isOver = Atomic(false)
                let refused = Atomic(0)
                let others = Atomic(0)
                let longestJob = LongestDuration()
                let attack = BackgroundThread { [port = gateway.port] in
                    for number in 0..<10_000 where !isOver.load(ordering: .relaxed) {
                        let name = number % 2 == 0 ? "pixels" : "texts"
                        guard let client = try? RawClient(port: port, from: 9) else { return }
                        client.get(path("/\(name)/\(number)"))
                        let answer = longestJob.measure { client.whole() }
                        let isRefused =
                            answer.status == 422
                            && String(decoding: answer.body, as: UTF8.self)
                                .contains("limitExceeded")
                        if isRefused {
                            refused.add(1, ordering: .relaxed)
                        } else {
                            others.add(1, ordering: .relaxed)
                        }
                    }
                }
                let beside = await httpClient.load(60) { path("/good/b\($0)") }
                isOver.store(true, ordering: .relaxed)
                #expect(await attack.join())
                beside.expectUndisturbed(
                    than: undisturbed, beside: "inflating PNGs", longestJob: longestJob.value)
                memory.expectNoKills()
                #expect(refused.load(ordering: .relaxed) > 4)
                #expect(others.load(ordering: .relaxed) == 0)
                #expect(try await stack.counter("crashes") == 0)
            }
        }
    }
}
