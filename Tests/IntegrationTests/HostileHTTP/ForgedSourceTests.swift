import StageKit

extension RealProcesses {
    /// Spellings of forbidden addresses, through each grammar of the gateway to the downloader with
    /// its address policy enabled.
    @Suite struct ForgedSourceTests {
        private static let grammars: [(name: String, arguments: [String])] = [
            ("imgproxy", ["--unsigned"]),
            ("thumbor", ["--grammar", "thumbor", "--unsigned"]),
            ("imagor", ["--grammar", "imagor", "--unsigned"]),
            ("iiif", ["--grammar", "iiif", "--iiif-source", "{id}"]),
            ("weserv", ["--grammar", "weserv", "--unsigned"]),
        ]

        @Test func noSpellingLeadsWhereNobodyMayGo() async throws {
            try await withStack([], decoders: 1) { stack in
                for (name, arguments) in Self.grammars {
                    let gateway = try GatewayProcess(before: stack, arguments)
                    // One origin for each, since the stack remembers failures for a while.
                    let origin = OriginServer()
                    let rows = Self.targets(name, port: origin.port)
                    #expect(rows.count >= 130)
                    let asked = try rows.map { (target, code) in
                        let client = try gateway.connect()
                        client.get(target)
                        return Asked(client, target, code)
                    }
                    let statuses = asked.map { $0.expectTypedStatus() }
                    #expect(origin.acceptedConnectionCount == 0)
                    // Most of them reached the address policy.
                    #expect(statuses.count { $0 == 403 } >= 100, "\(name)")
                    #expect(try gateway.get("/live").status == 200)
                }
            }
        }

        /// A request on a connection of its own.
        private final class Asked {
            private let client: RawClient
            private let target: String
            private let code: ErrorCode?

            init(_ client: consuming RawClient, _ target: String, _ code: ErrorCode?) {
                self.client = client
                (self.target, self.code) = (target, code)
            }

            /// Returns the status.
            func expectTypedStatus() -> Int {
                let answer = client.whole()
                let permitted =
                    switch code {
                    case .addressForbidden: [400, 403]
                    case .none: [400, 403, 502]
                    // thumbor takes a source without a scheme for a host name, which doesn't exist
                    // here.
                    default: [400, 403, 404, 415, 422, 502]
                    }
                #expect(permitted.contains(answer.status), "\(target): \(answer)")
                #expect(answer.field("Cache-Control") == "no-store" && !answer.body.isEmpty)
                return answer.status
            }
        }

        /// Each spelling as a path component: fully encoded, and verbatim if a request target may
        /// contain it.
        private static func targets(
            _ grammar: String, port: UInt16
        ) -> [(target: String, code: ErrorCode?)] {
            let rows =
                ForgedURLs.http.map { ($0.url, Optional($0.code)) }
                + ForgedURLs.unreadable.map { ($0, nil) }
            return rows.flatMap { url, code in
                forms(url.replacing("PORT", with: "\(port)"), code, grammar)
            }
        }

        private static func forms(
            _ url: String, _ code: ErrorCode?, _ grammar: String
        ) -> [(target: String, code: ErrorCode?)] {
            let encoded = PercentCoding.encode(url.utf8) { byte in
                (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte)
            }
            if grammar == "iiif" { return [("/\(encoded)/full/40,/0/default.jpg", code)] }
            if grammar == "weserv" { return [("/?url=\(encoded)&w=40", code)] }
            let start = grammar == "imgproxy" ? "/unsafe/w:40/plain/" : "/unsafe/40x40/"
            let isVisible = url.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            return [(start + encoded, code)] + (isVisible ? [(start + url, nil)] : [])
        }
    }
}
