extension RealProcesses {
    /// Paths that match an allowed pattern stay below it, however origins interpret them.
    @Suite struct PathReadingTests {
        /// Parts of paths: names, dot segments, and characters that some servers treat as
        /// separators.
        private static let chunks = [
            "pub", "secret", "..", ".", "%2e%2e", "%2E.", "/", "//", "%2f", "%2F", "%5c", "\\",
            "%252f", "%252e", ";", ";x=1", "%3b", "%00", "%25", "%70ub", "%20", "a",
        ]
        private static let pattern = URLPattern("http://h/pub/*")

        /// Random paths that the pattern permits.
        private static func paths(_ count: Int) throws -> [String] {
            let pattern = try #require(pattern)
            var random = SeededGenerator(seed: 20_261_128)
            var paths: [String] = []
            while paths.count < count {
                let length = Int.random(in: 1...9, using: &random)
                let middle = (0..<length).map { _ in chunks.randomElement(using: &random) ?? "" }
                let path = "/pub/" + middle.joined() + "/s.png"
                let url = try SourceURL("http://h" + path)
                if URLPattern.permits(url, [pattern]) { paths.append(path) }
            }
            return paths
        }

        /// `$uri` is the path that nginx uses to look up files.
        @Test func nginxReadsThemBelowThePattern() throws {
            let server = try NginxServer(answering: "$uri")
            for path in try Self.paths(1_000) {
                let answer = try server.get(path)
                guard answer.status == 200 else { continue }
                #expect(answer.text.hasPrefix("/pub/"), "\(path) is \(answer.text)")
            }
            let outside = try server.get("/pub/..%2fsecret/s.png").body
            #expect(String(decoding: outside, as: UTF8.self) == "/secret/s.png")
        }

        /// `http.server` decodes a path and then removes its dot segments.
        @Test func pythonReadsThemBelowThePattern() throws {
            let paths = try Self.paths(4_000)
            let program = """
                import http.server, sys
                handler = http.server.SimpleHTTPRequestHandler.__new__(
                    http.server.SimpleHTTPRequestHandler)
                handler.directory = "/"
                for line in sys.stdin:
                    print(repr(handler.translate_path(line.rstrip("\\n"))))
                """
            let output = try Tool.run(
                ["python3", "-c", program], input: Array(paths.joined(separator: "\n").utf8))
            let read = String(decoding: output, as: UTF8.self).split(separator: "\n")
            #expect(read.count == paths.count)
            for (path, text) in zip(paths, read) {
                #expect(text.hasPrefix("'/pub/"), "\(path) is \(text)")
            }
        }
    }
}
