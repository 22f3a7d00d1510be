import ImageModel
import StackKit
import StageKit
import TestKit
import Testing

extension RealProcesses {
    /// Spellings of addresses that nobody may reach, through each grammar of the gateway to the
    /// downloader with its guard on.
    @Suite struct ForgedSourceTests {
        private static let grammars: [(name: String, arguments: [String])] = [
            ("imgproxy", ["--unsigned"]),
            ("thumbor", ["--grammar", "thumbor", "--unsigned"]),
            ("iiif", ["--grammar", "iiif", "--iiif-source", "{id}"]),
        ]

        @Test func noSpellingLeadsWhereNobodyMayGo() async throws {
            try await withStack([], decoders: 1) { stack in
                for (name, arguments) in Self.grammars {
                    let gateway = try GatewayProcess(before: stack, arguments)
                    // One for each: the stack remembers for a while what has failed.
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
                    // The guard itself was reached, by most.
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
                    // thumbor takes what names no scheme for the name of a host: there is none.
                    default: [400, 403, 404, 415, 422, 502]
                    }
                #expect(permitted.contains(answer.status), "\(target): \(answer)")
                #expect(answer.field("Cache-Control") == "no-store" && !answer.body.isEmpty)
                return answer.status
            }
        }

        /// Each spelling as a part of a path: encoded as a whole, and as it is where a target can
        /// hold it.
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
            let start = grammar == "imgproxy" ? "/unsafe/w:40/plain/" : "/unsafe/40x40/"
            let isVisible = url.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            return [(start + encoded, code)] + (isVisible ? [(start + url, nil)] : [])
        }
    }
}
