import Imagebus
import Model
import StackKit
import TestKit
import Testing

extension Conformance {
    /// Secrets in a request are sent to its origin only: they appear in no log, status, list or
    /// error of any process, whatever the log level.
    @Suite struct SecrecyCases {
        private let origin = OriginServer()
        /// A prefix that all secrets have, and nothing else.
        private let mark = "hush"
        private let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        private let group = "00112233445566778899aabbccddeeff"

        init() throws {
            origin.route("/a.png", .bytes(try Images.quadrants().png()))
            origin.route("/gone.png", .status(404))
            origin.route("/text.png", .bytes(Array("no image".utf8)))
            origin.route("/moved.png", .redirect(to: origin.url("/a.png?sig=hushlocation")))
            origin.route("/loop.png", .redirect(to: origin.url("/loop.png?sig=hushlocation")))
        }

        private func secret(_ place: String) -> String {
            let parts = place.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
            return "\(parts[0])//ann:hushpw@\(parts[2])?sig=hushquery&token=hush0123456789abcdef"
        }

        /// Loads that succeed and fail in every way, each with its exit status.
        private var places: [(place: String, status: Int32)] {
            let port = origin.port
            return [
                (origin.url("/a.png"), 0), (origin.url("/a.png"), 0), (origin.url("/moved.png"), 0),
                (origin.url("/gone.png"), 66), (origin.url("/text.png"), 65),
                (origin.url("/text.png"), 66), (origin.url("/loop.png"), 76),
                ("https://127.0.0.1:\(port)/a.png", 76), ("http://127.0.0.1:1/a.png", 75),
                ("http://nowhere.invalid/a.png", 75),
                ("ftp://127.0.0.1/a.png", 77),
            ]
        }

        @Test func nothingSecretIsShownByAnyProcess() async throws {
            let arguments = [
                "--allow-private-networks", "--log-format", "json", "--log-level", "debug",
                "--log-requests", "all",
            ]
            try await withStack(arguments, decoders: 1) { stack in
                var seen = ""
                var names = [group]
                for (place, status) in places {
                    let end = try stack.get(
                        [secret(place), "--resize", "40x40", "--json"] + credentials)
                    #expect(end.exitStatus == status, "\(place): \(end)")
                    let answer = try end.json()
                    names.append(try #require(answer["token"]?.text))
                    seen += end.errorText + (answer["error"].map { "\($0)" } ?? "")
                }
                let prefetch = try stack.run(
                    ["prefetch", secret(origin.url("/a.png")), secret(origin.url("/gone.png"))])
                #expect(prefetch.exitStatus == 66, "\(prefetch)")
                #expect(prefetch.errorText.contains("/gone.png: "), "the URL is listed")
                seen += prefetch.outputText + prefetch.errorText
                for line in shown { seen += try stack.run(line).outputText }
                try await stack.awaitIdle()

                let lines = try LogLines(stack)
                #expect(lines.saying("request").count >= places.count - 1)
                seen += lines.text
                #expect(!seen.contains(mark), "\(leaks(in: seen))")
                #expect(!seen.contains("ann:"), "\(leaks(in: seen))")
                for name in names { #expect(!seen.contains(name.prefix(9)), "\(name)") }
                #expect(lines.text.contains("\"\(names[1].prefix(8))\""), "its prefix is logged")
                try expectListed(stack)
            }
        }

        private var credentials: [String] {
            [
                "--header", "Authorization: Bearer hushauth", "--header", "Cookie: id=hushcookie",
                "--header", "X-Api-Key: hushkey", "--traceparent", trace, "--group", group,
            ]
        }

        /// The commands that operators use.
        private let shown = [
            ["status"], ["status", "--json"], ["status", "--prometheus"],
            ["failure-cache", "list"], ["failure-cache", "list", "--json"],
        ]

        /// An operator sees failed URLs without their secrets, and removes them with their secrets.
        private func expectListed(_ stack: StackHarness) throws {
            let listed = try stack.run(["failure-cache", "list"]).outputText
            #expect(listed.contains(origin.url("/text.png ")), "\(listed)")
            let other = secret(origin.url("/text.png")) + "0"
            let nothing = "no matching entries\n"
            #expect(try stack.run(["failure-cache", "remove", other]).outputText == nothing)
            let own = secret(origin.url("/text.png"))
            #expect(try stack.run(["failure-cache", "remove", own]).outputText == "removed 1\n")
        }

        /// The lines that contain a secret, for messages.
        private func leaks(in text: String) -> [Substring] {
            text.split(separator: "\n").filter { $0.contains(mark) || $0.contains("ann:") }
        }
    }
}
