extension RealProcesses {
    /// Name servers controlled by an attacker: whatever they answer, and whenever, no connection is
    /// made that policy forbids, and other names are still resolved.
    @Suite(.enabled(if: HostileNames.isPermitted, "making a network needs root"))
    struct RebindingTests {
        private static let open = "93.184.216.34"
        private let image: [UInt8]

        init() throws { image = try Images.waves(width: 64, height: 64).png() }

        /// Addresses of this machine and of private networks, and addresses that embed one of
        /// these.
        private static let forbidden = [
            "0.0.0.0", "10.0.0.1", "100.64.0.1", "127.1.2.3", "169.254.169.254", "192.168.0.1",
            "::", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1", "2002:7f00:1::1",
            "fd00::1", "fec0::1", "2606:2800:220::5efe:7f00:1",
        ]

        private static let zone: String = {
            let alone = forbidden.enumerated().map { #""f\#($0).test": [["\#($1)"]]"# }
            let others = [
                #""turns.test": [["\#(open)"], ["127.0.0.1"]]"#,
                #""hop.test": [["\#(open)"], ["::ffff:127.0.0.1"]]"#,
                #""allowed.test": [["\#(open)"], ["127.0.0.1"]]"#,
                #""both.test": [["127.0.0.1", "::1", "\#(open)"]]"#,
                #""dead.test": [["93.184.217.1", "127.0.0.1"]]"#,
                #""six.test": [["2606:2800:220::1"]]"#, #""none.test": [[]]"#,
                #""silent.test": [null]"#, #""other.test": [["\#(open)"]]"#,
            ]
            return "{" + (alone + others).joined(separator: ", ") + "}"
        }()

        /// The loads, one after another, and how each must end; nil: with an image.
        private static let loads: [(String, ErrorCode?)] =
            forbidden.indices.map { ("http://f\($0).test/a.png", .addressForbidden) }
            + [
                ("http://turns.test/a.png?1", nil),
                // A new lookup, for another port; then the kept connection.
                ("http://turns.test:8081/a.png?2", .addressForbidden),
                ("http://turns.test/a.png?3", nil),
                ("http://hop.test/to?http://hop.test:8081/a.png", .addressForbidden),
                ("http://allowed.test/to?http://allowed.test:8083/a.png", nil),
                ("http://allowed.test:8082/a.png", .addressForbidden),
                ("http://both.test/a.png", nil),
                ("http://six.test/a.png", nil),
                ("http://none.test/a.png", .nameNotResolved),
                ("http://silent.test/a.png", .timedOut),
                ("http://[fe80::1%25lo]/a.png", .addressForbidden),
                ("http://[::1%25lo]/a.png", .addressForbidden),
            ]

        private func withNames(
            _ body: (StackHarness, HostileNames) async throws -> Void
        ) async throws {
            let names = try HostileNames(Self.zone, image: image)
            // Long for a busy machine, yet shorter than the 10 s after which the resolver gives up.
            let arguments = ["--allow-address", "127.0.0.1:8083", "--connect-timeout", "5s"]
            try await withStack(
                arguments, decoders: 1, environment: ["IMAGEBUS_FETCH_RETRIES": "0"],
                launcher: names.launcher
            ) { try await body($0, names) }
        }

        @Test func noAnswerLeadsInside() async throws {
            try await withNames { stack, names in
                let client = try stack.client()
                for (url, code) in Self.loads {
                    let end = await client.load(url).errorCode
                    #expect(end == code, "\(url)")
                }
                // One address doesn't respond, the other one is internal.
                let dead = await client.load("http://dead.test/a.png").errorCode
                #expect(dead == .addressForbidden || dead == .connectionFailed)
                // A process without any cached address.
                #expect(try stack.run(["drain", "download"]).exitStatus == 0)
                let late = await client.load("http://turns.test/a.png?4").errorCode
                #expect(late == .addressForbidden)
                let seen = try names.connections()
                let permitted = ["\(Self.open) 80", "2606:2800:220::1 80", "127.0.0.1 8083"]
                #expect(seen.allSatisfy { permitted.contains($0) }, "\(seen)")
                #expect(permitted.allSatisfy { seen.contains($0) }, "\(seen)")
            }
        }

        /// A lookup takes a thread, which outlives its load.
        @Test func silentNameServersDoNotTakeAllThreads() async throws {
            try await withNames { stack, _ in
                let report = try await stack.awaitIdle()
                let download = try stack.child(#require(report.processes(.download).first))
                let (attacker, other) = (try stack.client(), try stack.client())
                #expect(await other.load("http://other.test/a.png").errorCode == nil)
                var (most, times): (Int, [Duration]) = (0, [])
                for round in 0..<8 {
                    let attack = (0..<150).map { number in
                        var request = ImageRequest(url: "http://n\(round)-\(number).silent.test/")
                        request.timeoutMilliseconds = 300
                        return attacker.load(request)
                    }
                    let started = ContinuousClock.now
                    for url in ["http://r\(round).six.test/a.png", "http://other.test/\(round)"] {
                        #expect(await other.load(url).errorCode == nil, "\(url)")
                    }
                    times.append(started.duration(to: .now))
                    for task in attack { #expect(await task.errorCode != nil) }
                    most = max(most, ProcessMetrics.threadCount(of: download.processID))
                }
                print("silent names: at most \(most) threads, longest \(times.max() ?? .zero)")
                #expect((100...480).contains(most))
                #expect(times.allSatisfy { $0 < .seconds(10) }, "\(times)")
            }
        }
    }
}
