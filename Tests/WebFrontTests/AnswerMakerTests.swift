import Model
import Testing
import WebGrammar

@testable import WebFront

/// The response for each result of a load.
@Suite struct AnswerMakerTests {
    private func move(
        _ result: Result<DeliveredProperties, ImageError>, of plan: RequestPlan,
        _ change: (inout WebFrontSettings) -> Void = { _ in }
    ) throws -> NextStep {
        try AnswerMaker(settings: .unsigned(change)).nextStep(after: result, of: plan, now: 10_000)
    }

    private static let plan: RequestPlan = {
        var image = ImageRequest(url: "http://h/a.jpg")
        image.steps = [.resize(PixelSize(width: 10, height: 0), .fit)]
        image.headers = [HTTPHeader(name: "Authorization", value: "secret")]
        return RequestPlan(WebRequest(image))
    }()

    private func delivered(
        _ format: ImageFormat, alpha: Bool = false, size: PixelSize = PixelSize(width: 8, height: 6)
    ) -> Result<DeliveredProperties, ImageError> {
        .success(
            DeliveredProperties(
                info: ImageInfo(format: format, size: size, hasAlpha: alpha), byteCount: 100))
    }

    // MARK: - Fallbacks

    private static let usual = FallbackSettings(image: .url("http://h/other.png"))

    @Test func anotherImageIsLoadedInThePlaceOfOneThatIsNotThere() throws {
        let error = ImageError(.badImageData, "torn")
        let next = try #require(
            try move(.failure(error), of: Self.plan) { $0.fallback = Self.usual }.plan)
        #expect(next.request.image.url == "http://h/other.png" && next.fallbackFor == error)
        #expect(next.request.image.steps == Self.plan.request.image.steps)
        #expect(next.request.image.headers.isEmpty)
        let end = try move(delivered(.png), of: next) { $0.fallback = Self.usual }
        let head = try #require(end.image)
        #expect(head.status == 200 && head.field("X-Imagebus-Fallback") == "badImageData")
        // The error of the fallback isn't the reported one, and isn't retried forever.
        let other = ImageError(.busy, "full", details: ["retryAfter": "9"])
        let failed = try move(.failure(other), of: next) { $0.fallback = Self.usual }
        let answer = try #require(failed.text)
        #expect(answer.status == 422 && answer.field("Retry-After") == nil)
        #expect(answer.words == "badImageData: torn\n")
    }

    @Test(
        arguments: [
            (nil, .blacklisted, true), (nil, .timedOut, true), (nil, .connectionFailed, true),
            (nil, .busy, false), (nil, .shuttingDown, false), (nil, .addressForbidden, false),
            (nil, .invalidRequest, false), (nil, .internalError, false),
            ("403", .addressForbidden, true), ("403", .badImageData, false),
            ("badImageData", .badImageData, true), ("badImageData", .limitExceeded, false),
            ("badImageData,429", .busy, true),
        ] as [(String?, ErrorCode, Bool)])
    func onlySomeErrorsHaveOne(words: String?, code: ErrorCode, isShown: Bool) throws {
        var settings = Self.usual
        if let words { settings.causes = try #require(FallbackSettings.Causes(words)) }
        let next = try move(.failure(ImageError(code, "")), of: Self.plan) {
            $0.fallback = settings
        }
        #expect((next.plan != nil) == isShown)
    }

    @Test(arguments: ["", "40", "200", "404,", "404;410", "badimagedata", "600"])
    func causesAreStatusesAndNames(text: String) {
        #expect(FallbackSettings.Causes(text) == nil)
    }

    @Test func aFileGoesTheWayOfWhatIsSent() throws {
        var settings = Self.usual
        settings.image = .bytes([1, 2])
        let next = try move(.failure(ImageError(.blacklisted, "")), of: Self.plan) {
            $0.fallback = settings
        }
        let plan = try #require(next.plan)
        #expect(plan.upload == .fallback([1, 2]) && plan.request.image.url.isEmpty)
    }

    /// For the same errors as the listener's.
    @Test func theFallbackOfAPathPrecedesTheListeners() throws {
        var plan = Self.plan
        plan.request.fallback = "http://h/own.png"
        var settings = Self.usual
        for listeners in [nil, settings] {
            let next = try move(.failure(ImageError(.timedOut, "")), of: plan) {
                $0.fallback = listeners
            }
            #expect(next.plan?.request.image.url == "http://h/own.png")
        }
        settings.causes = try #require(FallbackSettings.Causes("404"))
        let next = try move(.failure(ImageError(.timedOut, "")), of: plan) {
            $0.fallback = settings
        }
        #expect(next.plan == nil && next.text?.status == 504)
    }

    /// Properties of another image would be wrong, and an uploader wants the uploaded image.
    @Test func factsAndWhatIsSentHaveNoFallback() throws {
        var properties = Self.plan
        properties.request.kind = .properties
        var sent = Self.plan
        sent.upload = .body
        for plan in [properties, sent] {
            let next = try move(.failure(ImageError(.badImageData, "")), of: plan) {
                $0.fallback = Self.usual
            }
            #expect(next.plan == nil)
        }
    }

    // MARK: - Formats

    private static func accepting(_ accept: String) -> RequestPlan {
        var plan = plan
        plan.accept = AcceptHeader(accept)
        plan.varies = ["Accept"]
        return plan
    }

    @Test(
        arguments: [
            ("*/*", .webp, false, nil), ("image/webp", .webp, false, nil),
            ("image/png,image/jpeg", .webp, false, .jpeg),
            ("image/png,image/jpeg", .webp, true, .png),
            ("image/png;q=0.1,image/jpeg", .webp, true, .jpeg),
            ("image/png", .jpeg, false, .png), ("image/*;q=0.5,image/jpeg;q=0", .jpeg, false, .png),
            ("image/gif", .jpeg, true, .gif), ("", .gif, false, nil),
        ] as [(String, ImageFormat, Bool, ImageFormat?)])
    func whatIsNotAcceptedIsMadeAnew(
        accept: String, format: ImageFormat, alpha: Bool, wanted: ImageFormat?
    ) throws {
        let next = try move(delivered(format, alpha: alpha), of: Self.accepting(accept))
        switch next {
        case .load(let plan):
            #expect(plan.request.image.output.format == wanted && wanted != nil)
            #expect(plan.varies == ["Accept"])
            // The second time the response is sent in whatever format.
            #expect(try move(delivered(format), of: plan).image != nil)
        case .image(let head):
            #expect(wanted == nil)
            #expect(head.field("Content-Type") == format.mimeType && head.field("Vary") == "Accept")
        case .text(let answer): Issue.record("\(answer)")
        }
    }

    @Test func whatCannotBeMadeIsNotAcceptable() throws {
        let answer = try move(delivered(.jpeg), of: Self.accepting("image/svg+xml")).text
        #expect(answer?.status == 406 && answer?.field("Vary") == "Accept")
    }

    // MARK: - Sizes

    /// IIIF Image API 3.0, section 4.2: images are only enlarged on request, and a smaller one is
    /// an error.
    @Test(arguments: [(8, 6, 200), (8, 0, 200), (9, 6, 400), (8, 7, 400)])
    func aSourceMayBeTooSmall(width: Int, height: Int, status: UInt16) throws {
        var plan = Self.plan
        plan.request.leastSize = PixelSize(width: width, height: height)
        let next = try move(delivered(.jpeg), of: plan)
        #expect((next.image ?? next.text)?.status == status)
    }

    /// IIIF Image API 3.0, section 4.1, for a region outside the image.
    @Test(arguments: [(nil, 422), ("a", 400)] as [(String?, UInt16)])
    func aRegionMayLieBesideTheImage(identifier: String?, status: UInt16) throws {
        var plan = Self.plan
        plan.request.identifier = identifier
        let failure = ImageError(.stepFailed, "nothing lies in the rectangle")
        #expect(try move(.failure(failure), of: plan).text?.status == status)
    }

    // MARK: - Caching

    @Test func whatWasSentIsKeptByNobody() throws {
        var plan = Self.plan
        plan.upload = .body
        plan.conditions = Conditions(ifNoneMatch: "*", ifRange: nil, range: "bytes=0-1")
        let head = try #require(try move(delivered(.jpeg), of: plan).image)
        #expect(head.status == 200 && head.bytes == 0..<100)
        #expect(head.field("Cache-Control") == "no-store")
    }
}
