import Model
import TestKit
import Testing
import WebGrammar

@testable import WebFront

/// Responses never permit caches more than the origin does (RFC 9111, RFC 5861). The reference is
/// `Tests/HTTPCaching/model.py`, which shares no code with the gateway.
@Suite struct CacheabilityTests {
    /// A random response of an origin.
    private struct Saying {
        var fields: [String: String] = [:]
        /// Seconds since the response arrived.
        var elapsed: Int64 = 0

        private static let seconds = ["0", "1", "5", "10", "60", "300", "3600", "99999999999", "x"]
        private static let flags = [
            "no-store", "private", "public", "no-cache", "must-revalidate", "proxy-revalidate",
            "immutable", "no-transform", "private=\"set-cookie\"", "x-other=\"a, no-store\"",
        ]
        private static let numbers = [
            "max-age", "s-maxage", "stale-while-revalidate", "stale-if-error",
        ]

        init(_ random: inout SeededGenerator) {
            var words: [String] = []
            for flag in Self.flags where Int.random(in: 0..<8, using: &random) == 0 {
                words.append(flag)
            }
            for name in Self.numbers where Int.random(in: 0..<2, using: &random) == 0 {
                let value = Self.seconds.randomElement(using: &random)!
                words.append(
                    Bool.random(using: &random) ? "\(name)=\(value)" : "\(name)=\"\(value)\"")
                if Int.random(in: 0..<16, using: &random) == 0 { words.append("\(name)=7") }
            }
            words = words.map { Bool.random(using: &random) ? $0 : $0.uppercased() }
            if !words.isEmpty || Bool.random(using: &random) {
                fields["cache-control"] = words.shuffled(using: &random).joined(separator: ", ")
            }
            let now = CacheabilityTests.answered
            if Bool.random(using: &random) {
                let late = [0, 0, 3, 50].randomElement(using: &random)!
                fields["date"] = HTTPDate.text(of: now - Int64(late))
            }
            if Int.random(in: 0..<3, using: &random) == 0 {
                let after = ([-9, 0, 20, 90, 4_000] as [Int64]).randomElement(using: &random)!
                fields["expires"] =
                    Bool.random(using: &random) ? HTTPDate.text(of: now + after) : "0"
            }
            if Int.random(in: 0..<3, using: &random) == 0 {
                fields["age"] = ["0", "4", "55", "500"].randomElement(using: &random)!
            }
            if Int.random(in: 0..<9, using: &random) == 0 { fields["vary"] = "*" }
            elapsed = [0, 0, 1, 8, 30, 61, 400].randomElement(using: &random)!
        }

        var caching: OriginCaching {
            OriginCaching(
                CacheControl(fields["cache-control"]),
                ResponseAge(
                    date: fields["date"], age: fields["age"], expires: fields["expires"],
                    asked: CacheabilityTests.answered * 1_000,
                    answered: CacheabilityTests.answered * 1_000),
                variesOnEverything: fields["vary"] == "*")
        }
    }

    private static let answered: Int64 = 1_700_000_000
    private static let assumed = HTTPExpiry.Limits().assuming(
        AssumedLifetime(fresh: 3_600, whileRevalidate: 600, ifError: 86_400))

    /// The response to a request at that time; `nil` if the origin would be asked first.
    private func answer(to saying: Saying, _ answers: ImageAnswer) -> Answer? {
        let caching = saying.caching
        let expiry = caching.expiry(.shared, Self.assumed)
        let now = (Self.answered + saying.elapsed) * 1_000
        if saying.elapsed > 0 {
            guard CacheRole.shared.mayKeep(caching.cacheControl), !caching.variesOnEverything,
                FreshnessDecision(expiry, at: now) != .revalidate
                    || expiry.mayServe(afterErrorAt: now)
            else { return nil }
        }
        let image = DeliveredProperties(
            info: ImageInfo(format: .jpeg, size: PixelSize(width: 4, height: 3)), byteCount: 100,
            validity: Validity(expiry: expiry, caching: caching))
        let plan = RequestPlan(WebRequest(ImageRequest(url: "http://a/b.jpg")))
        return answers.head(of: image, for: plan, now: now)
    }

    @Test(arguments: [nil, 30])
    func noAnswerIsMoreCacheableThanItsOrigin(browserSeconds: Int?) throws {
        var random = SeededGenerator(seed: 46)
        var answers = ImageAnswer()
        answers.caching.browserSeconds = browserSeconds
        var lines: [String] = []
        while lines.count < 10_000 {
            let saying = Saying(&random)
            guard let head = answer(to: saying, answers) else { continue }
            let fields = saying.fields.map { "\"\($0)\": \(Self.quoted($1))" }
            lines.append(
                "{\"origin\": {\(fields.joined(separator: ", "))}, \"elapsed\": \(saying.elapsed), "
                    + "\"answered\": \(Self.answered), "
                    + "\"answer\": \(Self.quoted(head.field("Cache-Control") ?? "")), "
                    + "\"vary\": \(Self.quoted(head.field("Vary") ?? ""))}")
        }
        let model = RepositoryRoot.file("Tests/HTTPCaching/model.py")
        let output = try Tool.run(
            ["python3", model], input: Array(lines.joined(separator: "\n").utf8))
        let complaints = String(decoding: output, as: UTF8.self)
        #expect(complaints.isEmpty, "\(complaints.prefix(3_000))")
    }

    private static func quoted(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}
