extension RealProcesses {
    /// Damaged images over HTTP (WEB §5.12).
    @Suite struct GatewayDamageTests {
        private let bench = GatewayBench()

        init() throws {
            let whole = try Images.waves(width: 200, height: 200).jpeg(quality: 90)
            let half = Array(whole.prefix(whole.count / 2))
            bench.origin.route("/half.jpg", .bytes(half))
            bench.origin.route("/open.jpg", .bytes(Array(whole.dropLast(2))))
            bench.origin.route("/short.jpg", .closing(after: whole.count / 2, of: whole))
        }

        @Test func aDamagedImageIsShownAndMarked() async throws {
            try await bench.run(["--immutable"]) { gateway, _ in
                for _ in 0..<2 {
                    let shown = try gateway.get(bench.path("/half.jpg", "w:50"))
                    #expect(shown.status == 200, "\(shown.head)")
                    #expect(shown.field("X-Imagebus-Damaged") == "true")
                    #expect(shown.field("Cache-Control") == "public, max-age=60")
                }
                let whole = try gateway.get(bench.path("/open.jpg", "w:50"))
                #expect(whole.status == 200 && whole.field("X-Imagebus-Damaged") == nil)
                #expect(whole.field("Cache-Control")?.contains("immutable") == true)
            }
        }

        /// An image rejected at one URL is delivered at another.
        @Test func thePathAndTheListenerMayRefuseIt() async throws {
            for (settings, options, status) in [
                ([], "dmg:refuse/w:50", 422), (["--damaged", "refuse"], "w:50", 422),
                (["--damaged", "refuse"], "dmg:show/w:50", 200), ([], "w:50", 200),
            ] as [([String], String, Int)] {
                try await bench.run(settings) { gateway, _ in
                    for options in [options, "dmg:refuse/w:51", options] {
                        let answer = try gateway.get(bench.path("/half.jpg", options))
                        let wanted = options == "dmg:refuse/w:51" ? 422 : status
                        #expect(answer.status == wanted, "\(options) \(answer.head)")
                    }
                }
            }
        }

        @Test func aBodyThatIsShorterThanSaidIsAnError() async throws {
            try await bench.run { gateway, _ in
                let answer = try gateway.get(bench.path("/short.jpg", "w:50"))
                #expect(answer.status == 502, "\(answer.head)")
            }
        }
    }
}
