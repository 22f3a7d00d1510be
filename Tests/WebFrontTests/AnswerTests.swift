import ImageModel
import Messages
import Testing
import WebFront
import WebGrammar

@Suite struct AnswerTests {
    private static let digest = ContentDigest([UInt8](0..<32))
    private let request = WebRequest(ImageRequest(url: "http://a/b.jpg"))

    private func head(
        _ validity: Validity? = nil, ifNoneMatch: String? = nil, range: String? = nil,
        varies: [String] = [], fallback: ErrorCode? = nil,
        _ change: (inout WebRequest, inout ImageAnswer) -> Void = { _, _ in }
    ) -> AnswerHead {
        var (request, answers) = (request, ImageAnswer())
        change(&request, &answers)
        let image = DeliveredFacts(
            ImageInfo(format: .jpeg, size: PixelSize(width: 4, height: 3)), byteCount: 100,
            digest: Self.digest, validity: validity,
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
        #expect(head.field("Content-Disposition") == "inline; filename=\"image.jpg\"")
        #expect(head.field("Server-Timing") == "total;dur=0.0")
        #expect(head.field("Access-Control-Allow-Origin") == nil)
    }

    /// A field that is no date may be no field at all.
    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", true), ("", false), ("a\r\nb: c", false),
            ("yesterday", false),
        ])
    func onlyADateIsSaid(text: String, isSaid: Bool) {
        let head = head(Validity(lastModified: text))
        #expect(head.field("Last-Modified") == (isSaid ? text : nil))
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

    /// What the origin says, what the URL says, and the limits of both.
    @Test(
        arguments: [
            (nil, nil, nil, "public, max-age=3600"),
            (HTTPExpiry(born: 0, freshFor: 70_000), nil, nil, "public, max-age=60"),
            (HTTPExpiry(born: 0, freshFor: 5_000), nil, nil, "no-cache"),
            (HTTPExpiry(born: 0, freshFor: 70_000), 5, nil, "public, max-age=5"),
            (nil, 0, nil, "no-cache"), (nil, nil, 40, "public, max-age=30"),
            (nil, nil, 5, "no-cache"),
            (nil, 99_999_999_999, nil, "public, max-age=31536000"),
            (
                HTTPExpiry(born: 0, freshFor: 70_000, staleFor: 9_000, errorFor: 8_000), nil, nil,
                "public, max-age=60, stale-while-revalidate=9, stale-if-error=8"
            ),
        ] as [(HTTPExpiry?, Int?, Int?, String)])
    func cachesAreToldHowLong(expiry: HTTPExpiry?, said: Int?, until: Int?, text: String) {
        let head = head(expiry.map { Validity(expiry: $0) }) { request, _ in
            (request.maxAge, request.expires) = (said, until)
        }
        #expect(head.field("Cache-Control") == text)
    }

    @Test func aFallbackSaysWhatItIsAndIsNotKeptLong() {
        let head = head(fallback: .badImageData) { request, _ in request.maxAge = 9_999 }
        #expect(head.field("X-Imagebus-Fallback") == "badImageData")
        #expect(head.field("Cache-Control") == "public, max-age=60")
    }

    /// An image in the place of an error that keeps the error's status has no parts, and is not
    /// known by a tag: both would be statuses of their own.
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

    /// Browsers may keep an answer for a shorter time than caches of several.
    @Test(
        arguments: [
            (30, nil, "public, max-age=30, s-maxage=60"), (90, nil, "public, max-age=60"),
            (0, nil, "public, max-age=0, s-maxage=60"),
            (30, 45, "public, max-age=30, s-maxage=45"),
        ] as [(Int, Int?, String)])
    func browsersAreToldLess(most: Int, cap: Int?, text: String) {
        let head = head(Validity(expiry: HTTPExpiry(born: 0, freshFor: 70_000))) { _, answers in
            answers.caching.browserSeconds = most
            if let cap { answers.caching.mostSeconds = cap }
        }
        #expect(head.field("Cache-Control") == text)
    }

    @Test func otherOriginsAreToldWhereThatIsPermitted() {
        let head = head { _, answers in answers.allowedOrigin = "*" }
        #expect(head.field("Access-Control-Allow-Origin") == "*")
        #expect(head.field("Timing-Allow-Origin") == "*")
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
        let made = FileDisposition.text(name, format, isAttachment: isAttachment)
        #expect(made == text)
        #expect(!made.contains("\n") && !made.contains("/"))
    }
}
