extension RealProcesses {
    /// Metrics of a real stack.
    @Suite struct MetricsTests {
        private func lines(_ text: String) -> Set<String> {
            Set(text.split(separator: "\n").map(String.init))
        }

        @Test func theFiguresOfAStackAreAllKnownAndPromtoolHasNothingToSay() async throws {
            let origin = OriginServer("/a.png", .bytes(try Images.quadrants().png()))
            origin.route("/gone.png", .status(404))
            try await withClient { stack, client in
                for _ in 0..<3 {
                    _ = try await client.load(ImageRequest(origin.url("/a.png"), fit: 40)).response
                }
                _ = await client.load(origin.url("/gone.png")).errorCode
                // Answers repeated by the client are reported a moment later.
                let report = try await stack.awaitStatus("stores, and both hits") { report in
                    report.counter("memoryHits") == 2
                        && report.stages.allSatisfy { $0.queued == 0 && $0.running == 0 }
                }
                #expect(report.stages.count == 5)
                #expect(report.stages.allSatisfy { $0.works.count > 0 && $0.waits.count > 0 })
                #expect(report.requests.count == 2, "the image and the error, but no hit")
                #expect(report.processes(.decode).allSatisfy { $0.credit > 0 })
                #expect(report.processes(.download).allSatisfy { $0.credit > 1 })

                let text = try stack.run(["status", "--prometheus"]).outputText
                let lines = lines(text)
                #expect(lines.contains("imagebus_cache_requests_total{tier=\"memory\"} 2"))
                #expect(lines.contains("imagebus_cache_requests_total{tier=\"miss\"} 2"))
                #expect(lines.contains("imagebus_request_duration_seconds_count 2"))
                let failed = "imagebus_requests_failed_total"
                #expect(lines.contains("\(failed){reason=\"invalidDownloadStatusCode\"} 1"))
                #expect(!text.contains("imagebus_other"), "each counter has its metric: \(text)")
                if Promtool.path != nil { #expect(try Promtool.check(text) == "") }
                let json = try stack.run(["status", "--json"]).json()
                #expect(json["requests"]?["count"]?.integer == 2)
                #expect(json["stages"]?.array?.count == 5)
                let table = try stack.run(["status"]).outputText
                #expect(table.contains("STAGE") && table.contains("memory"))
            }
        }

        @Test func serveKeepsAFileUpToDateAndRemovesIt() async throws {
            let folder = TemporaryDirectory()
            let file = folder.file("imagebus.prom")
            let origin = OriginServer("/a.png", .bytes(try Images.quadrants().png()))
            let arguments = ["--metrics-file", file, "--metrics-seconds", "1"]
            try await withClient(["--allow-private-networks"] + arguments) { stack, client in
                _ = try await client.load(origin.url("/a.png")).response
                _ = try await stack.awaitStatus("figures in the file") { _ in
                    lines(FileBytes.text(file) ?? "").contains("imagebus_requests_total 1")
                }
                let text = FileBytes.text(file) ?? ""
                if Promtool.path != nil { #expect(try Promtool.check(text) == "") }
                #expect(text.hasSuffix("\n"))
                let other = folder.file("once.prom")
                let end = try stack.run(["status", "--prometheus", "-o", other])
                #expect(end.exitStatus == 0 && end.output.isEmpty, "\(end)")
                #expect(FileBytes.text(other)?.contains("imagebus_requests_total 1\n") == true)
            }
            #expect(FileBytes.read(file) == nil, "outdated metrics must be noticed")
        }
    }
}
