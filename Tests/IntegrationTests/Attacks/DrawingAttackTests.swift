import Synchronization

extension RealProcesses {
    /// Images that crash or stall their decoders, while another HTTP client loads other images.
    @Suite struct DrawingAttackTests {
        private static let arguments = ["--allow-private-networks", "--vector", "1"]
        private let origin = OriginServer()

        /// librsvg aborts on a matrix like this.
        private static let crashing: [UInt8] = {
            let kernel = Array(repeating: "1", count: 99 * 99).joined(separator: " ")
            return Drawings.svg(
                "width='64' height='64'",
                "<filter id='f'><feConvolveMatrix order='99' kernelMatrix='\(kernel)'/></filter>"
                    + "<rect width='64' height='64' filter='url(#f)'/>")
        }()

        private func path(_ name: String, width: Int = 40) -> String {
            "/unsafe/w:\(width)/f:png/plain/\(origin.url(name))"
        }

        /// Crashes at two sizes are enough; no other size crashes a process after them.
        @Test func aDrawingThatCrashesInTwoSizesIsNotTriedInOthers() async throws {
            origin.route("/bad.svg", .bytes(Self.crashing))
            origin.route("/good.svg", .bytes(Drawings.svgQuarters()))
            try await withGateway(stack: Self.arguments) { (gateway, stack) async throws in
                for width in 40..<50 {
                    #expect(try gateway.get(path("/bad.svg", width: width)).status == 422)
                }
                #expect(try await stack.counter("crashes") == 4)
                #expect(try gateway.get(path("/good.svg")).status == 200)
            }
        }

        /// It never uses the full CPU time limit of a drawing.
        @Test func aDrawingThatUsesUpItsTimeAgainAndAgainIsNotTriedAgain() async throws {
            origin.route("/slow.svg", .bytes(HostileDrawings.endless))
            let limited = ["--unsigned", "--timeout", "3"]
            try await withGateway(limited, stack: Self.arguments) { gateway, stack in
                var statuses: [Int] = []
                // A drawing assigned just as the worker restarted had less than a second.
                for _ in 0..<12 where statuses.last != 422 {
                    statuses.append(try gateway.get(path("/slow.svg")).status)
                }
                #expect(statuses.last == 422, "\(statuses)")
                #expect(statuses.dropLast().allSatisfy { $0 == 504 }, "\(statuses)")
                #expect(try await stack.counter("crashes") == 0)
            }
        }

        /// Each one is a different drawing, so each crashes two processes.
        @Test func drawingsThatCrashKeepNoOtherWaitingForAProcess() async throws {
            origin.route("/bad/*", .bytes(Self.crashing))
            origin.route("/good/*", .bytes(Drawings.svgQuarters()))
            try await withGateway(stack: Self.arguments) { gateway, stack in
                let memory = try ShippedMemory(stack, gateway)
                let httpClient = HonestHTTPClient(port: gateway.port, interval: .milliseconds(100))
                let undisturbed = await httpClient.load(30) { path("/good/u\($0)") }
                let isOver = Atomic(false)
                let longestJob = LongestDuration()
                let attack = BackgroundThread { [port = gateway.port] in
                    for number in 0..<10_000 where !isOver.load(ordering: .relaxed) {
                        guard let client = try? RawClient(port: port, from: 9) else { return }
                        client.get(path("/bad/\(number)"))
                        _ = longestJob.measure { client.whole() }
                    }
                }
                let beside = await httpClient.load(60) { path("/good/b\($0)") }
                isOver.store(true, ordering: .relaxed)
                #expect(await attack.join())
                beside.expectUndisturbed(
                    than: undisturbed, beside: "crashing drawings", longestJob: longestJob.value)
                memory.expectNoKills()
                #expect(try await stack.counter("crashes") > 6)
                let log = FileBytes.text(stack.logFile) ?? ""
                #expect(!log.contains("failed repeatedly"), "no start was delayed")
            }
        }
    }
}
