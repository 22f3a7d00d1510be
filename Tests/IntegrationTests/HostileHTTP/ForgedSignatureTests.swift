extension RealProcesses {
    /// Paths with invalid or expired signatures.
    @Suite struct ForgedSignatureTests {
        /// A valid signature, created with Python's `hmac`, and the path that it signs.
        private struct Signed {
            let signature: String
            /// The signature with another key.
            let other: String
            let rest: String

            /// Near misses of the valid signature.
            var forgeries: [String] {
                let good = signature.filter { $0 != "=" }
                let wrongFirst = (good.hasPrefix("A") ? "B" : "A") + good.dropFirst()
                let wrongLast = good.dropLast(3) + (good.hasSuffix("AAA") ? "BBB" : "AAA")
                let words: [String] = [
                    "", "_", "unsafe", "=", "====", "A", other, other.filter { $0 != "=" },
                    wrongFirst, String(wrongLast), String(good.dropFirst()),
                    String(good.dropLast(4)), good + "AAAA", good + good, String(good.prefix(8)),
                    String(good.prefix(22)), String(good.reversed()), good.lowercased(),
                    good.uppercased(), "%00" + good, good + "%00", good + "%20", "%2e/" + good,
                    good + ".", good + "*", String(repeating: "A", count: good.count),
                    String(repeating: "A", count: 4_000),
                ]
                return words.map { "/\($0)/\(rest)" }
            }
        }

        private static let imgproxy = Signed(
            signature: "4zc_XpwojSZOr3hRAQETkl20hm7Jjo01Nphu-QO2s7g",
            other: "MDNZOgwVyARxOWMUQYACP19_E0DPnmVPVEmlrJcf_Xg",
            rest: "w:40/plain/http://127.0.0.1:1/a.jpg")
        private static let thumbor = Signed(
            signature: "bWKkgy0y5t02uonrPGcEEw4fq1k=", other: "v0ZmCBTMNlvpayHeLpD6oVSKOKQ=",
            rest: "40x40/http://127.0.0.1:1/a.jpg")
        /// Signed, but expired in 1970.
        private static let expired =
            "/7A4T1z1JklYueWTxvgzEBTJ7SnWH5mDIsHbAQAyLvyw/exp:1/w:40/plain/http://127.0.0.1:1/a.jpg"

        @Test(arguments: ["imgproxy", "thumbor"])
        func nothingButTheSignatureIsOne(grammar: String) async throws {
            let folder = TemporaryDirectory()
            let isImgproxy = grammar == "imgproxy"
            let keys = folder.write(
                Array((isImgproxy ? "736563726574 68656c6c6f\n" : "lilac\n").utf8), to: "keys")
            let signed = isImgproxy ? Self.imgproxy : Self.thumbor
            let arguments = ["--grammar", grammar, "--keys", keys]
            try await withGateway(arguments, stack: []) { gateway, _ in
                // Passed to the stack, whose address policy rejects it with its own error.
                let good = try gateway.get("/\(signed.signature)/\(signed.rest)")
                #expect(good.status == 403)
                #expect(good.text.contains("addressForbidden"))
                #expect(signed.forgeries.count >= 24)
                for forgery in signed.forgeries {
                    let answer = try gateway.get(forgery)
                    let text = answer.text
                    #expect([400, 403].contains(answer.status), "\(forgery): \(answer.head)")
                    #expect(!text.contains("addressForbidden"), "\(forgery): \(text)")
                }
                // The signature covers the path exactly as sent.
                for (from, to) in [("40", "41"), ("a.jpg", "a.jpg%20"), ("a.jpg", "A.jpg")] {
                    let rest = signed.rest.replacing(from, with: to)
                    #expect(try gateway.get("/\(signed.signature)/\(rest)").status == 403)
                }
                if isImgproxy { #expect(try gateway.get(Self.expired).status == 404) }
            }
        }
    }
}
