extension RealProcesses {
    /// Limits of `serve`, and stricter ones in rules (SEMANTICS §9.8).
    @Suite struct LimitTests {
        private let folder = TemporaryDirectory()

        @Test func whatIsDecodedIsHeldToTheNarrowerLimit() async throws {
            let origin = OriginServer()
            let waves = Images.waves(width: 400, height: 300)
            let (jpeg, png) = (try waves.jpeg(quality: 85), try waves.png())
            for folder in ["", "/strict", "/wide", "/short", "/whole"] {
                origin.route("\(folder)/a.jpg", .jpeg(jpeg))
                origin.route("\(folder)/a.png", .bytes(png))
            }
            let file = folder.configuration(
                """
                profiles:
                  default:
                    rules:
                      - {match: "http://*/strict/*", pixel-limit: 2K}
                      - {match: "http://*/wide/*", pixel-limit: 200M}
                      - {match: "http://*/short/*", body-limit: 100}
                """)
            try await withStack(file + ["--pixel-limit", "100K"]) { stack in
                func details(_ path: String, _ words: [String] = []) throws -> [String?] {
                    let end = try stack.get([origin.url(path), "--json"] + words)
                    guard end.exitStatus != 0 else { return [] }
                    #expect(end.exitStatus == 77, "\(end)")
                    let details = try end.json()["error"]?["details"]
                    return [details?["setting"]?.text, details?["permitted"]?.text]
                }
                let small = ["--thumbnail", "100x75"]
                #expect(try details("/a.png", small) == ["pixel-limit", "100000"])
                #expect(try details("/a.jpg", small) == [], "decoded at 1/4 scale")
                #expect(try details("/whole/a.jpg") == ["pixel-limit", "100000"])
                #expect(try details("/wide/a.png", small) == ["pixel-limit", "100000"])
                #expect(try details("/strict/a.jpg", small) == ["pixel-limit", "2000"])
                #expect(try details("/strict/a.jpg", ["--thumbnail", "25x25"]) == [])
                #expect(try details("/short/a.jpg", small) == ["body-limit", "100"])
                try await stack.awaitIdle()
            }
        }
    }
}
