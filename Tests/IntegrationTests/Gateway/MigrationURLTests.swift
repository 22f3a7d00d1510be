extension RealProcesses {
    /// The URL tables on the migration pages (`Proto/Migration`), each row sent to a gateway:
    /// supported options behave as the table of `Proto/WEB.md` states, under each of their names;
    /// unsupported ones are rejected by name with 501.
    @Suite struct MigrationURLTests {
        private let bench = GatewayBench()

        private func routeImages() throws {
            bench.origin.route(
                "/a.jpg", .bytes(try Images.waves(width: 300, height: 240).jpeg(quality: 90)))
            bench.origin.route("/m.png", .bytes(try Images.waves(width: 20, height: 20).png()))
        }

        /// The example with each name in place of its own, and with a watermark that exists.
        private func spellings(_ row: WebDocument.Row) -> [String] {
            let mark = Base64Text.text(Array(bench.origin.url("/m.png").utf8)).filter { $0 != "=" }
            // The Base64 of "https://h/m.png".
            let example = row.example.replacing("aHR0cHM6Ly9oL20ucG5n", with: mark)
            return row.names.map { name in
                example.split(separator: "/").map { part in
                    let words = part.split(separator: ":", maxSplits: 1)
                    return row.names.contains(String(words[0]))
                        ? "\(name):\(words.dropFirst().joined())" : String(part)
                }.joined(separator: "/")
            }
        }

        @Test func imgproxysOptionsDoWhatTheirPageSays() async throws {
            try routeImages()
            let rows = MigrationPage("imgproxy").rows(below: "Options of URLs")
            let same = Set(rows.filter { !$0.isAbsent }.flatMap(\.names))
            let absent = rows.filter(\.isAbsent).flatMap(\.names)
            #expect(same.count > 80 && absent.count > 20)
            try await bench.run([
                "--preset-lines", "sharp=sharpen:2", "--watermark", bench.origin.url("/m.png"),
            ]) { gateway, _ in
                let plain = try gateway.get(bench.path("/a.jpg", "")).body
                for row in WebDocument.rows(of: 2, headed: "options") {
                    #expect(same.isSuperset(of: row.names), "\(row)")
                    let answers = try spellings(row).map {
                        try gateway.get(bench.path("/a.jpg", $0))
                    }
                    for answer in answers {
                        #expect(answer.status == 200, "\(row) \(answer.head)")
                        #expect(answer.body == answers[0].body, "\(row)")
                        #expect(row.steps.isEmpty || answer.body != plain, "\(row)")
                    }
                }
                for name in absent {
                    let answer = try gateway.get(bench.path("/a.jpg", "\(name):1"))
                    #expect(answer.status == 501 && answer.text.contains(name), "\(name)")
                }
            }
        }

        @Test func thumborsPartsAndFiltersDoWhatTheirPageSays() async throws {
            try routeImages()
            let page = MigrationPage("thumbor")
            let rows = page.rows(below: "Parts of URLs") + page.rows(below: "Filters")
            let same = Set(rows.filter { !$0.isAbsent }.flatMap(\.names))
            try await bench.run(["--grammar", "thumbor"]) { gateway, _ in
                let source = bench.origin.url("/a.jpg")
                let plain = try gateway.get("/unsafe/\(source)").body
                for row in WebDocument.rows(of: 3, headed: "part")
                    + WebDocument.rows(of: 3, headed: "filter")
                {
                    #expect(same.isSuperset(of: Set(row.names).subtracting(["filters"])))
                    let example = row.example.replacing(
                        "http://h/m.png", with: bench.origin.url("/m.png"))
                    let answer = try gateway.get("/unsafe/\(example)/\(source)")
                    #expect(answer.status == 200, "\(row) \(answer.head)")
                    #expect(row.steps.isEmpty || answer.body != plain, "\(row)")
                }
                for name in page.rows(below: "Filters").filter(\.isAbsent).flatMap(\.names) {
                    let answer = try gateway.get("/unsafe/filters:\(name)(1)/\(source)")
                    #expect(answer.status == 501 && answer.text.contains(name), "\(name)")
                }
                let drawn = try gateway.get("/unsafe/debug/90x80/\(source)")
                #expect(drawn.status == 501 && drawn.text.contains("debug"), "\(drawn.head)")
            }
        }

        /// A JPEG has no frame 2.
        @Test func weservsParametersDoWhatTheirPageSays() async throws {
            try routeImages()
            let page = MigrationPage("weserv").rows(below: "Parameters")
            let same = Set(page.filter { !$0.isAbsent }.flatMap(\.names))
            try await bench.run(["--grammar", "weserv"]) { gateway, _ in
                let target = "/?url=\(bench.origin.url("/a.jpg"))"
                let plain = try gateway.get(target).body
                for row in WebDocument.rows(of: 7, headed: "parameters") {
                    #expect(same.isSuperset(of: row.names), "\(row)")
                    guard !["url", "page"].contains(row.names[0]) else { continue }
                    let answer = try gateway.get("\(target)&\(row.example)")
                    #expect(answer.status == 200, "\(row) \(answer.head)")
                    #expect(row.steps.isEmpty || answer.body != plain, "\(row)")
                }
                for name in page.filter(\.isAbsent).flatMap(\.names) {
                    let answer = try gateway.get("\(target)&\(name)=1")
                    #expect(answer.status == 501 && answer.text.contains(name), "\(name)")
                }
            }
        }

        @Test func imagorsPartsAndFiltersDoWhatTheirPageSays() async throws {
            try routeImages()
            let page = MigrationPage("imagor")
            let rows = page.rows(below: "Parts of URLs") + page.rows(below: "Filters")
            try await bench.run(["--grammar", "imagor"]) { gateway, _ in
                for row in rows {
                    let example = try #require(row.example).replacing(
                        "http://h/m.png", with: bench.origin.url("/m.png"))
                    let answer = try gateway.get(
                        "/unsafe/\(example)/\(bench.origin.url("/a.jpg"))")
                    if row.isAbsent {
                        #expect(answer.status == 501, "\(row) \(answer.head)")
                    } else {
                        #expect(answer.status == 200, "\(row) \(answer.head)")
                    }
                }
            }
        }
    }
}
