import Model
import Testing
import WebGrammar

@testable import WebFront

@Suite struct AnswerTests {
    private static let digest = ContentDigest([UInt8](0..<32))
    private let request = WebRequest(ImageRequest(url: "http://a/b.jpg"))

    private func head(
        _ validity: Validity? = nil, ifNoneMatch: String? = nil, range: String? = nil,
        varies: [String] = [], fallback: ErrorCode? = nil, isDamaged: Bool = false,
        _ change: (inout WebRequest, inout ImageAnswer) -> Void = { _, _ in }
    ) -> Answer {
        var (request, answers) = (request, ImageAnswer())
        change(&request, &answers)
        let image = DeliveredProperties(
            info: ImageInfo(format: .jpeg, size: PixelSize(width: 4, height: 3)), byteCount: 100,
            digest: Self.digest, validity: validity, isDamaged: isDamaged,
            fallbackFor: fallback.map { ImageError($0, "text") })
        var plan = RequestPlan(request)
        plan.conditions = Conditions(ifNoneMatch: ifNoneMatch, ifRange: nil, range: range)
        plan.varies = varies
        return answers.head(of: image, for: plan, now: 10_000)
    }

    @Test func anImageHasItsFields() {
        let head = head(varies: ["Accept"])
        #expect(head.status == 200 && head.bytes == 0..<100)
        #expect(head.field("etag") == "\"000102030405060708090a0b0c0d0e0f\"")
        #expect(head.field("Content-Type") == "image/jpeg")
        #expect(head.field("Vary") == "Accept")
        #expect(head.field("X-Content-Type-Options") == "nosniff")
        #expect(head.field("Content-Security-Policy")?.contains("sandbox") == true)
        #expect(head.field("Content-Disposition") == "inline; filename=\"b.jpg\"")
        #expect(head.field("Server-Timing") == "total;dur=0.0")
        #expect(head.field("Access-Control-Allow-Origin") == nil)
    }

    /// A field that isn't a date may be treated as absent.
    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", true), ("", false), ("a\r\nb: c", false),
            ("yesterday", false),
        ])
    func onlyADateIsSaid(text: String, isStated: Bool) {
        let head = head(Validity(lastModified: text))
        #expect(head.field("Last-Modified") == (isStated ? text : nil))
    }

    @Test func whoHasItGetsNoBytes() {
        let head = head(ifNoneMatch: "W/\"000102030405060708090a0b0c0d0e0f\"", varies: ["Accept"])
        #expect(head.status == 304 && head.bytes == nil)
        #expect(head.field("ETag") != nil && head.field("Vary") == "Accept")
        #expect(head.field("Cache-Control") != nil && head.field("Content-Type") == nil)
    }

    @Test func aPartIsAnsweredAsOne() {
        let part = head(range: "bytes=10-19")
        #expect(part.status == 206 && part.bytes == 10..<20)
        #expect(part.field("Content-Range") == "bytes 10-19/100")
        let none = head(range: "bytes=100-")
        #expect(none.status == 416 && none.bytes == nil)
        #expect(none.field("Content-Range") == "bytes */100")
    }

    /// The lifetime from the origin and from the URL, and the limits of both.
    @Test(
        arguments: [
            (nil, nil, nil, "public, max-age=3600"),
            (nil, 0, nil, "no-cache"), (nil, nil, 40, "public, max-age=30"),
            (nil, nil, 5, "no-cache"),
            (nil, 99_999_999_999, nil, "public, max-age=31536000"),
            ("max-age=70", nil, nil, "max-age=60"),
            ("public, max-age=70", nil, nil, "public, max-age=60"),
            ("max-age=70", nil, 40, "max-age=30"), ("max-age=70", 5, nil, "max-age=5"),
            ("max-age=5", nil, nil, "no-cache"), ("no-cache", 5, nil, "max-age=5"),
            ("private, max-age=70", 5, nil, "private, max-age=5"),
            ("no-store", 5, nil, "no-store"),
            ("private, no-store", nil, nil, "private, no-store"),
            ("private, max-age=70", nil, nil, "private, max-age=60"),
            ("no-cache, max-age=70", nil, nil, "no-cache"),
            ("max-age=70, s-maxage=20", nil, nil, "max-age=60, s-maxage=10"),
            ("s-maxage=70", nil, nil, "max-age=0, s-maxage=60"),
            (
                "max-age=70, must-revalidate, proxy-revalidate, immutable, no-transform", nil, nil,
                "max-age=60, must-revalidate, proxy-revalidate, immutable, no-transform"
            ),
            (
                "max-age=70, stale-while-revalidate=9, stale-if-error=8", nil, nil,
                "max-age=60, stale-while-revalidate=9, stale-if-error=8"
            ),
            (
                "max-age=7, stale-while-revalidate=9, stale-if-error=2", nil, nil,
                "max-age=0, stale-while-revalidate=6"
            ),
        ] as [(String?, Int?, Int?, String)])
    func cachesAreToldHowLong(control: String?, stated: Int?, until: Int?, text: String) {
        let head = head(control.map { Self.validity($0) }) { request, _ in
            (request.maxAge, request.expires) = (stated, until)
        }
        #expect(head.field("Cache-Control") == text)
    }

    /// The validity of a response that is ten seconds old. A minute is assumed if the origin gives
    /// no lifetime.
    private static func validity(_ control: String?) -> Validity {
        let caching = OriginCaching(CacheControl(control), ResponseAge(bornMilliseconds: 0))
        let limits = HTTPExpiry.Limits().assuming(
            AssumedLifetime(fresh: 60, whileRevalidate: 6, ifError: 7))
        return Validity(expiry: caching.expiry(.shared, limits), caching: caching)
    }

    @Test(
        arguments: [
            (nil, "public, max-age=50, stale-while-revalidate=6, stale-if-error=7"),
            (
                "immutable",
                "public, max-age=50, stale-while-revalidate=6, stale-if-error=7, "
                    + "immutable"
            ),
            ("private", "private, max-age=50, stale-while-revalidate=6, stale-if-error=7"),
        ] as [(String?, String)])
    func whatIsAssumedIsSaid(control: String?, text: String) {
        #expect(head(Self.validity(control)).field("Cache-Control") == text)
    }

    @Test func whatIsForOneRequestIsFoundByNoOther() {
        var validity = Self.validity("max-age=70")
        validity.caching?.variesOnEverything = true
        #expect(head(validity, varies: ["Accept"]).field("Vary") == "*")
    }

    @Test func aFallbackSaysWhatItIsAndIsNotKeptLong() {
        let head = head(fallback: .badImageData) { request, _ in request.maxAge = 9_999 }
        #expect(head.field("X-Imagebus-Fallback") == "badImageData")
        #expect(head.field("Cache-Control") == "public, max-age=60")
    }

    /// Whatever the origin, the operator and the URL specify: at most a minute, never forever.
    @Test(
        arguments: [
            (nil, "public, max-age=50"), ("max-age=30", "max-age=20"),
            ("public, max-age=9999, immutable", "public, max-age=60"),
            ("max-age=9999, s-maxage=9999, stale-while-revalidate=99", "max-age=60, s-maxage=60"),
            ("private, max-age=9999", "private, max-age=60"), ("no-store", "no-store"),
        ] as [(String?, String)])
    func aDamagedImageIsMarkedAndNotKeptLong(control: String?, text: String) {
        for stated in [nil, 7_777] {
            let head = head(Self.validity(control), isDamaged: true) { request, answers in
                answers.caching.isImmutable = true
                request.maxAge = stated
            }
            #expect(head.status == 200 && head.field("X-Imagebus-Damaged") == "true")
            let words = head.field("Cache-Control") ?? ""
            if stated == nil { #expect(words == text) }
            #expect(!words.contains("immutable") && !words.contains("stale"), "\(words)")
        }
        let again = head(ifNoneMatch: ImageAnswer.tag(Self.digest!), isDamaged: true)
        #expect(again.status == 304 && again.field("X-Imagebus-Damaged") == "true")
        #expect(head().field("X-Imagebus-Damaged") == nil)
    }

    /// A fallback image with the status of the error has no ranges and no tag, since both would
    /// need statuses of their own.
    @Test(
        arguments: [(.blacklisted, 404), (.badImageData, 422), (.timedOut, 504)]
            as [(ErrorCode, UInt16)])
    func aFallbackMayKeepTheStatusOfTheError(code: ErrorCode, status: UInt16) {
        let tag = ImageAnswer.tag(Self.digest!)
        let head = head(ifNoneMatch: tag, range: "bytes=0-9", fallback: code) { _, answers in
            (answers.fallbackStatus, answers.fallbackSeconds) = (nil, 7)
        }
        #expect(head.status == status && head.bytes == 0..<100)
        #expect(head.field("Cache-Control") == "public, max-age=7")
        let usual = self.head(ifNoneMatch: tag, fallback: code)
        #expect(usual.status == 304)
    }

    /// Browsers may cache a response for a shorter time than shared caches.
    @Test(
        arguments: [
            ("public", 30, nil, "public, max-age=30, s-maxage=60"),
            ("public", 90, nil, "public, max-age=60"),
            ("public", 0, nil, "max-age=0, s-maxage=60"),
            ("public", 30, 45, "public, max-age=30, s-maxage=45"),
            ("private", 30, nil, "private, max-age=30"),
        ] as [(String, Int, Int?, String)])
    func browsersAreToldLess(control: String, most: Int, cap: Int?, text: String) {
        let head = head(Self.validity("\(control), max-age=70")) { _, answers in
            answers.caching.browserSeconds = most
            if let cap { answers.caching.mostSeconds = cap }
        }
        #expect(head.field("Cache-Control") == text)
    }

    @Test(
        arguments: [
            ("*", "https://a", "*", nil), ("https://a", "https://b", "https://a", nil),
            ("https://a, https://b:8", "https://b:8", "https://b:8", "Accept, Origin"),
            ("https://a,https://b", "https://c", nil, "Accept, Origin"),
            ("https://a,https://b", nil, nil, "Accept, Origin"),
        ] as [(String, String?, String?, String?)])
    func otherOriginsAreToldWhereThatIsPermitted(
        permitted: String, origin: String?, granted: String?, vary: String?
    ) throws {
        let access = try #require(CrossOriginAccess(permitted))
        let fields = access.added(to: head(varies: ["Accept"]).fields, origin: origin)
        #expect(fields["Access-Control-Allow-Origin"] == granted)
        #expect(fields["Timing-Allow-Origin"] == granted)
        #expect(fields["Vary"] == vary ?? "Accept")
    }

    @Test(arguments: ["", "a", "https://", "*,https://a", "https://a,", "https://a/b", "https://é"])
    func whatIsNoOriginIsNoOrigin(text: String) { #expect(CrossOriginAccess(text) == nil) }

    /// RFC 9110 §13.2.2 defines their precedence.
    @Test(
        arguments: [
            (["if-modified-since": "Sun, 06 Nov 1994 08:49:37 GMT"], 304),
            (["if-modified-since": "Sun, 06 Nov 1994 08:49:38 GMT"], 304),
            (["if-modified-since": "Sun, 06 Nov 1994 08:49:36 GMT"], 200),
            (["if-modified-since": "yesterday"], 200),
            (
                [
                    "if-modified-since": "Sun, 06 Nov 1994 08:49:37 GMT",
                    "if-none-match": "\"other\"",
                ], 200
            ),
            (["if-match": "*"], 200), (["if-match": "\"other\""], 412),
            (["if-match": "\"x\", \"000102030405060708090a0b0c0d0e0f\""], 200),
            (["if-match": "W/\"000102030405060708090a0b0c0d0e0f\""], 412),
            (["if-unmodified-since": "Sun, 06 Nov 1994 08:49:36 GMT"], 412),
            (["if-unmodified-since": "Sun, 06 Nov 1994 08:49:37 GMT"], 200),
            (["range": "bytes=0-9", "if-range": "Sun, 06 Nov 1994 08:49:37 GMT"], 206),
            (["range": "bytes=0-9", "if-range": "Sun, 06 Nov 1994 08:49:38 GMT"], 200),
        ] as [([String: String], UInt16)])
    func conditionsAreMet(fields: [String: String], status: UInt16) {
        var plan = RequestPlan(request)
        plan.conditions = Conditions({ fields[$0.lowercased()] }, now: 1_700_000_000)
        let image = DeliveredProperties(
            info: ImageInfo(format: .jpeg, size: PixelSize(width: 4, height: 3)), byteCount: 100,
            digest: Self.digest, validity: Validity(lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"))
        #expect(ImageAnswer().head(of: image, for: plan, now: 10_000).status == status)
    }

    @Test func anErrorHasItsNameForProgramsToo() {
        let answers = ImageAnswer()
        let text = answers.failure(404, "invalidDownloadStatusCode", "the \"origin\" said so")
        #expect(text.field("X-Imagebus-Error") == "invalidDownloadStatusCode")
        #expect(text.field("Content-Type") == "text/plain; charset=utf-8")
        let json = answers.failure(404, "x", "the \"origin\" said so", asJSON: true)
        #expect(json.field("Content-Type") == "application/json")
        #expect(
            json.words == #"{"error":"x","message":"the \"origin\" said so","status":404}"# + "\n")
    }

    @Test(
        arguments: [
            (nil, ImageFormat.webp, false, "inline; filename=\"image.webp\""),
            ("cat", .jpeg, true, "attachment; filename=\"cat.jpg\""),
            (
                "a\"b\r\nX: y", .png, false,
                "inline; filename=\"a_b__X__y.png\"; filename*=UTF-8''a%22b%0D%0AX%3A%20y.png"
            ),
            (
                "../é", .png, false,
                "inline; filename=\"..___.png\"; filename*=UTF-8''..%2F%C3%A9.png"
            ),
            ("x", nil, true, "attachment; filename=\"x\""),
        ] as [(String?, ImageFormat?, Bool, String)])
    func aNameCannotLeaveItsField(
        name: String?, format: ImageFormat?, isAttachment: Bool, text: String
    ) {
        let produced = FileDisposition.text(name, format, isAttachment: isAttachment)
        #expect(produced == text)
        #expect(!produced.contains("\n") && !produced.contains("/"))
    }

    /// A long name keeps its extension, and no character is split.
    @Test func aLongNameKeepsItsEnding() {
        let produced = FileDisposition.text(
            String(repeating: "é", count: 300), .png, isAttachment: false)
        let whole = String(repeating: "%C3%A9", count: 98) + ".png"
        #expect(produced.hasSuffix("filename*=UTF-8''\(whole)"), "\(produced)")
        let plain = FileDisposition.text(
            String(repeating: "a", count: 300), .jpeg, isAttachment: false)
        #expect(plain == "inline; filename=\"\(String(repeating: "a", count: 196)).jpg\"")
    }

    @Test(
        arguments: [
            ("https://h/a/lake.jpg", "lake"), ("https://h/lake", "lake"),
            ("https://h/a.b.jpeg?x=/y.png#/z", "a.b"), ("https://h/lake/", "lake"),
            ("https://h/Zu%CC%88rich%20%C3%A9.png", "Zu\u{308}rich é"),
            ("s3://bucket/dir/1.5-fold", "1.5-fold"), ("https://h/v1.2345678", "v1.2345678"),
            ("https://h", nil), ("https://h/", nil), ("https://h/?a=b.png", nil),
            ("https://h/..", nil), ("https://h/%FF.png", nil), ("https://h/%2e%2e", nil),
            ("data:image/png;base64,AAAA", nil), ("", nil),
        ] as [(String, String?)])
    func aSourceGivesItsName(url: String, name: String?) {
        #expect(FileDisposition.name(ofSource: url) == name)
    }
}
