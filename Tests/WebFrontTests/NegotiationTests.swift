import Model
import Testing
import WebGrammar

@testable import WebFront

/// RFC 9110 §12.5.1, and the fields that browsers send.
@Suite struct NegotiationTests {
    private static let offered: [ImageFormat] = [.avif, .webp, .jpeg]

    @Test(
        arguments: [
            (nil, ["avif", "webp", "jpeg"]), ("", ["avif", "webp", "jpeg"]),
            ("*/*", ["avif", "webp", "jpeg"]), ("image/webp", ["webp"]),
            ("image/webp;q=0", []), ("image/*, image/avif;q=0", ["webp", "jpeg"]),
            ("image/avif;q=0.5, image/webp", ["webp", "avif"]),
            ("image/avif;q=0.5, image/*;q=0.8", ["webp", "jpeg", "avif"]),
            // The more specific one counts, whatever its position.
            ("*/*;q=0.1, image/webp;q=0.9", ["webp", "avif", "jpeg"]),
            ("IMAGE/WEBP ; Q=1.000", ["webp"]), ("image/webp;q=1.001, image/jpeg", ["jpeg"]),
            ("image/webp;q=0.1234, image/jpeg", ["jpeg"]), ("image/webp;q=, image/jpeg", ["jpeg"]),
            ("image//webp, /image/avif, image/jpeg", ["jpeg"]), ("text/html", []),
            (",,;;,/", ["avif", "webp", "jpeg"]),
            ("image/avif;v=b3;q=0.7, image/jpeg;q=0.8", ["jpeg", "avif"]),
        ] as [(String?, [String])])
    func formatsAreAcceptedByTheirWeights(text: String?, wanted: [String]) {
        #expect(AcceptHeader(text).accepted(of: Self.offered).map(\.name) == wanted)
    }

    /// imgproxy's `fq`: for the chosen format, otherwise for JPEG.
    @Test(
        arguments: [
            ("image/webp", .webp, 60), ("image/avif", .avif, nil), ("image/png", nil, 70),
            (nil, nil, 70),
        ] as [(String?, ImageFormat?, Int?)])
    func aFormatHasItsQuality(accept: String?, format: ImageFormat?, quality: Int?) throws {
        let settings = try WebFrontSettings.unsigned()
        let path = "/_/fq:jpg:70:webp:60/plain/https://h/a.jpg"
        var plan = RequestPlan(try settings.grammar.read(Array(path.utf8), now: 0))
        plan.negotiate(accept, offered: settings.offered)
        let output = plan.request.image.output
        #expect(output.format == format && output.quality == quality)
    }

    /// The fields of Chromium and Safari for images, and of curl.
    @Test(arguments: [
        ("image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8", true, true),
        (
            "image/webp,image/avif,image/jxl,image/heic,image/heic-sequence,video/*;q=0.8", true,
            true
        ),
        ("image/png,image/svg+xml,image/*;q=0.8,video/*;q=0.8,*/*;q=0.5", false, false),
        ("*/*", false, false), ("image/avif;q=0", false, false), ("image/webp", false, true),
    ])
    func newFormatsAreForWhoNamesThem(text: String, avif: Bool, webP: Bool) {
        let header = AcceptHeader(text)
        #expect(header.names(.avif) == avif)
        #expect(header.names(.webp) == webP)
    }

    @Test func aThousandRangesAreReadUpToALimit() {
        let many = Array(repeating: "text/html", count: 1_000).joined(separator: ",")
        #expect(AcceptHeader(many + ",image/webp").accepted(of: [.webp]).isEmpty)
    }
}

/// RFC 9110 §13 and §14.
@Suite struct ConditionTests {
    @Test(
        arguments: [
            (nil, false), ("\"a\"", true), ("W/\"a\"", true), ("\"b\"", false),
            ("\"b\" , W/\"a\"", true), ("*", true), ("a", false), ("", false),
        ] as [(String?, Bool)])
    func aTagThatIsKnownIsUnmodified(field: String?, isKnown: Bool) {
        let conditions = Conditions(ifNoneMatch: field, ifRange: nil, range: nil)
        #expect(conditions.isUnmodified("\"a\"") == isKnown)
    }

    @Test(
        arguments: [
            (nil, .whole), ("bytes=0-9", .bytes(0..<10)), ("bytes=5-", .bytes(5..<100)),
            ("bytes=-7", .bytes(93..<100)), ("bytes=-700", .bytes(0..<100)),
            ("bytes=90-900", .bytes(90..<100)), ("bytes=100-", .none), ("bytes=-0", .none),
            ("bytes=9-5", .whole), ("bytes=0-1,5-6", .whole), ("bytes=", .whole),
            ("bytes=-", .whole), ("bytes=a-b", .whole), ("lines=0-9", .whole),
            ("bytes=99999999999999999999-", .whole), ("bytes=0-99999999999999999999", .whole),
            (" BYTES = 0 - 9 ", .bytes(0..<10)),
        ] as [(String?, Conditions.Part)])
    func aPartIsThatOfTheRange(field: String?, part: Conditions.Part) {
        let conditions = Conditions(ifNoneMatch: nil, ifRange: nil, range: field)
        #expect(conditions.part(of: 100, under: "\"a\"") == part)
    }

    @Test(arguments: [
        ("\"a\"", Conditions.Part.bytes(0..<10)), ("\"b\"", .whole), ("W/\"a\"", .whole),
        ("Wed, 25 Nov 2026 00:00:00 GMT", .whole),
    ])
    func aPartOfAnotherRepresentationIsAllOfIt(ifRange: String, part: Conditions.Part) {
        let conditions = Conditions(ifNoneMatch: nil, ifRange: ifRange, range: "bytes=0-9")
        #expect(conditions.part(of: 100, under: "\"a\"") == part)
    }
}
