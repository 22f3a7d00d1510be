extension RealProcesses {
    /// Encoded separators in the path of a URL, through a whole stack with `sources`, to an origin
    /// that decodes them (SEMANTICS §10.2).
    @Suite struct EncodedPathTests {
        /// Paths that begin like the permitted ones and that the origin reads as `/secret/a.png`.
        private static let outside = [
            "/pub/..%2fsecret/a.png", "/pub/..%2Fsecret/a.png", "/pub%2f..%2fsecret/a.png",
            "/pub/%2e%2e%2fsecret%2fa.png", "/pub/..%252fsecret/a.png",
            "/pub/..%5csecret/a.png", "/pub/x%5c..%5C..%5csecret/a.png",
            "/pub/..%2fsecret/a.png%00/../../pub/a.png", "/pub/..%5csecret/a.png%00.jpg",
        ]
        /// Paths that it reads as `/pub/a.png`, but that another one may read otherwise.
        private static let unreadable = ["/pub/a.png%00", "/pub/a.png%00.jpg", "/pub/a.png%2500"]

        private let origin = OriginServer()
        private let folder = TemporaryDirectory()
        private let shown: [UInt8]
        private let secret: [UInt8]

        init() throws {
            shown = try Images.quadrants(width: 40, height: 30).png()
            secret = try Images.waves(width: 40, height: 30).png()
            origin.route(
                "/*",
                OriginBehavior { [shown, secret] request in
                    switch Self.reading(of: request.path) {
                    case "/pub/a.png": OriginResponse(shown, contentType: "image/png")
                    case "/secret/a.png": OriginResponse(secret, contentType: "image/png")
                    default: OriginResponse([], status: 404)
                    }
                })
        }

        /// Decodes a path twice, up to the first NUL, with backslashes as slashes, and then removes
        /// its dot segments.
        private static func reading(of path: String) -> String {
            var bytes = Array(path.utf8)
            for _ in 0..<2 { bytes = PercentCoding.decode(bytes) ?? [] }
            let text = String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            var parts: [Substring] = []
            for part in text.split(whereSeparator: { $0 == "/" || $0 == "\\" }) where part != "." {
                if part == ".." {
                    _ = parts.popLast()
                } else {
                    parts.append(part)
                }
            }
            return "/" + parts.joined(separator: "/")
        }

        @Test func noEncodedSeparatorLeadsOutOfTheSources() async throws {
            let text = "sources: [\"\(origin.url("/pub/*"))\"]\n"
            let arguments = folder.configuration(text)
            try await withClient(arguments, decoders: 1) { stack, client in
                let gateway = try GatewayProcess(before: stack, ["--unsigned"])
                let permitted = try await client.load(origin.url("/pub/a.png")).response
                #expect(permitted.bytes?.array == shown)
                let before = origin.totalRequestCount
                #expect(before == 1)
                for path in Self.outside + Self.unreadable {
                    let code = await client.load(origin.url(path)).errorCode
                    #expect(code == .sourceForbidden, "\(path)")
                    let answer = try gateway.get("/unsafe/w:20/plain/\(encoded(path))")
                    #expect([400, 403].contains(answer.status), "\(path): \(answer.head)")
                }
                #expect(origin.totalRequestCount == before, "the origin is not asked")
            }
            try expectAnswers()
        }

        /// The URL of a path as one component of another path, so that the gateway decodes it once.
        private func encoded(_ path: String) -> String {
            PercentCoding.encode(origin.url(path).utf8) { byte in
                (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte)
            }
        }

        /// Without the stack, the origin delivers what isn't permitted.
        private func expectAnswers() throws {
            for path in Self.outside {
                #expect(try RawClient.get(path, origin.port).body == secret, "\(path)")
            }
            for path in Self.unreadable {
                #expect(try RawClient.get(path, origin.port).body == shown, "\(path)")
            }
        }
    }
}
