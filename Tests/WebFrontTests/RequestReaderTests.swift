import Model
import Testing
import WebGrammar

@testable import WebFront

/// Decisions of a listener based on the head of a request.
@Suite struct RequestReaderTests {
    private func plan(
        _ target: String, _ fields: [String: String] = [:],
        _ change: (inout WebFrontSettings) throws -> Void = { _ in }
    ) throws -> RequestPlan {
        let verdict = try WebFrontSettings.unsigned(change).verdict(on: target, fields)
        return try #require(verdict.plan, "\(verdict)")
    }

    private func answer(
        _ target: String, method: String = "GET", _ fields: [String: String] = [:],
        _ change: (inout WebFrontSettings) throws -> Void = { _ in }
    ) throws -> Answer? {
        try WebFrontSettings.unsigned(change).verdict(on: target, method: method, fields).answer
    }

    private static let image = "/_/w:100/plain/http://h/a.jpg"

    // MARK: - The path /

    @Test func theRootShowsAnExampleWhereAnybodyMayAsk() throws {
        let page = try #require(
            try answer("/") { $0.root = RootPage(grammar: "imgproxy", example: "/_/w:1/<&") })
        #expect(page.status == 200)
        #expect(page.field("Content-Type") == "text/html; charset=utf-8")
        #expect(page.field("Content-Security-Policy") == "default-src 'none'")
        #expect(page.words.contains("<pre>/_/w:1/&lt;&amp;</pre>"))
    }

    @Test func theRootNamesTheDocumentationWherePathsAreSigned() throws {
        let page = try #require(
            try answer("/?a=1") { $0.root = RootPage(grammar: "thumbor", example: nil) })
        #expect(page.status == 404)
        #expect(page.field("X-Imagebus-Error") == "notFound")
        #expect(page.words.contains("Proto/WEB.md"))
        #expect(try answer("/")?.status == 400, "no root page is set")
    }

    /// The query of a grammar that reads it is part of the target.
    @Test func theRootWithAQueryIsAnImageOfWeserv() throws {
        let change = { (settings: inout WebFrontSettings) in
            settings.grammar = WeservGrammar.unsigned()
            settings.root = RootPage(grammar: "weserv", example: "/?url=h/a")
            settings.pathPrefix = "/img"
        }
        #expect(try answer("/img/", [:], change)?.status == 200)
        #expect(try answer("/img/?w=9", [:], change)?.status == 400)
        #expect(try answer("/img/a?url=h/a", [:], change)?.status == 404)
        let image = try plan("/img/?url=h/a&w=9", [:], change).request.image
        #expect(image.url == "http://h/a" && image.steps.map(\.name) == ["resize"])
    }

    // MARK: - Freshness

    @Test func whatOriginsDoNotSayIsAssumed() throws {
        let usual = try plan(Self.image).request.image
        #expect(usual.options.contains(.respectCacheControl))
        #expect(
            usual.assumedLifetime
                == AssumedLifetime(fresh: 3_600, whileRevalidate: 600, ifError: 86_400))
        let other = try plan(Self.image) { $0.assumedLifetime = AssumedLifetime(fresh: 5) }
        #expect(other.request.image.assumedLifetime == AssumedLifetime(fresh: 5))
    }

    // MARK: - Properties

    @Test func factsAreAskedForBehindInfo() throws {
        let plan = try plan("/info/_/plain/http://h/a.jpg")
        #expect(plan.request.kind == .properties && plan.request.image.infoOnly)
        #expect(plan.request.image.url == "http://h/a.jpg")
        #expect(plan.request.image.properties.kinds == [.header, .colors, .thumbHash])
        #expect(plan.varies.isEmpty && plan.properties?.contentType == "application/json")
        #expect(plan.request.image.options.contains(.respectCacheControl))
    }

    @Test(arguments: ["w:100", "q:5", "f:png", "fq:jpg:5", "raw:1", "fiu:aHR0cDovL2gvYQ"])
    func factsAreThoseOfTheSource(option: String) throws {
        let answer = try answer("/info/_/\(option)/plain/http://h/a.jpg")
        #expect(answer?.status == 501)
    }

    @Test func withoutAGrammarForItInfoIsASignature() throws {
        let answer = try answer("/info/_/plain/http://h/a.jpg") { $0.infoGrammar = nil }
        #expect(answer?.status == 400, "its path has no options")
    }

    // MARK: - Negotiation

    @Test(
        arguments: [
            ("image/avif,image/webp,*/*", [.avif, .webp]), ("image/webp,*/*", [.webp]), ("*/*", []),
            ("image/avif;q=0,image/webp", [.webp]), ("image/webp;q=0.5,image/*", []),
            ("image/avif;q=0.5,image/webp;q=0.5,image/*;q=0.5", [.avif, .webp]),
            ("application/json", []),
        ] as [(String, [ImageFormat])])
    func aBetterFormatIsOneThatIsPreferred(accept: String, formats: [ImageFormat]) throws {
        let plan = try plan(Self.image, ["Accept": accept])
        #expect(plan.request.image.output.accepted == formats)
        #expect(plan.request.image.output.format == nil && plan.varies == ["Accept"])
    }

    @Test func aFormatThatIsSaidIsNotNegotiated() throws {
        let plan = try plan(Self.image + "@png", ["Accept": "image/webp"])
        #expect(plan.request.image.output.format == .png && plan.varies.isEmpty)
        #expect(plan.accept == nil)
    }

    @Test func aQualityByFormatIsThatOfTheOneChosen() throws {
        let plan = try plan(
            "/_/fq:webp:33:avif:44/w:10/plain/http://h/a", ["Accept": "image/webp"])
        #expect(plan.request.image.output.format == .webp)
        #expect(plan.request.image.output.quality == 33)
    }

    @Test func whoAcceptsNoImageIsToldSo() throws {
        let answer = try answer(Self.image, ["Accept": "text/html, image/jpeg;q=0"])
        #expect(answer?.status == 406 && answer?.field("Vary") == "Accept")
    }

    // MARK: - Hints

    private func hinted(
        _ target: String, _ fields: [String: String],
        _ change: (inout HintSettings) throws -> Void = { _ in }
    ) throws -> RequestPlan {
        try plan(target, fields) { settings in
            var hints = HintSettings()
            try change(&hints)
            settings.hints = hints
        }
    }

    private func width(_ plan: RequestPlan) -> Int? {
        for step in plan.request.image.steps {
            if case .resize(let size, _, _) = step { return size.width }
        }
        return nil
    }

    @Test func hintsAreLookedAtWhereTheOperatorWantsIt() throws {
        let fields = ["Sec-CH-Width": "300", "Sec-CH-DPR": "2", "Save-Data": "on"]
        let plan = try plan("/_/plain/http://h/a.jpg", fields)
        #expect(plan.varies == ["Accept"] && plan.request.image.steps.isEmpty)
        #expect(plan.request.image.output.quality == nil)
    }

    @Test(
        arguments: [
            ("300", nil, 320), ("320", nil, 320), ("1", nil, 160), ("99999", nil, 3_840),
            (nil, "500", 640), ("300", "900", 320), ("", "500", 640), ("0", nil, nil),
            ("-5", nil, nil), ("3e2", nil, nil), ("1234567890", nil, nil), (nil, nil, nil),
        ] as [(String?, String?, Int?)])
    func aWidthIsRoundedUpToTheLadder(new: String?, old: String?, wanted: Int?) throws {
        var fields: [String: String] = [:]
        (fields["Sec-CH-Width"], fields["Width"]) = (new, old)
        let plan = try hinted("/_/bl:3/rot:90/plain/http://h/a.jpg", fields)
        #expect(width(plan) == wanted)
        #expect(plan.varies == ["Accept", "Save-Data", "Sec-CH-Width", "Width"])
        // After rotation, before blurring.
        let turn = TransformStep.rotate(Rotation(degreesClockwise: 90))
        #expect(plan.request.image.steps.first == turn)
        #expect(plan.request.image.steps.last == .blur(radius: 3))
    }

    @Test(
        arguments: [
            ("2", 2), ("1.2", 1.5), ("2.625", 3), ("9", 3), ("0.5", 1), ("x", 1), (nil, 1),
            ("inf", 1), ("0x2", 1),
        ] as [(String?, Double)])
    func pixelsAPointAreThoseOfTheLadder(stated: String?, ratio: Double) throws {
        var fields: [String: String] = [:]
        fields["Sec-CH-DPR"] = stated
        let plan = try hinted(Self.image, fields)
        #expect(plan.request.image.pixelRatio == ratio)
        #expect(plan.varies == ["Accept", "Save-Data", "Sec-CH-DPR", "DPR"])
    }

    @Test func whatThePathSaysIsNotChosenByHints() throws {
        let plan = try hinted(
            "/_/w:100/dpr:1/q:90/plain/http://h/a.jpg",
            ["Sec-CH-Width": "900", "Sec-CH-DPR": "3", "Save-Data": "on"])
        #expect(width(plan) == 100 && plan.request.image.pixelRatio == 1)
        #expect(plan.request.image.output.quality == 90)
        #expect(plan.varies == ["Accept", "Save-Data"])
    }

    @Test(arguments: [("on", 50), (" ON ", 50), ("off", nil), ("1", nil)] as [(String, Int?)])
    func whoSavesDataGetsALowerQuality(stated: String, quality: Int?) throws {
        let plan = try hinted(Self.image, ["Save-Data": stated])
        #expect(plan.request.image.output.quality == quality)
    }

    @Test func whoSavesDataHasAPreset() throws {
        let grammar = try ImgproxyGrammar.unsigned {
            $0.presets = try ImgproxyPresets(["default": "bl:9", "few": "w:50"])
        }
        let plan = try hinted(
            "/_/q:70/plain/http://h/a.jpg", ["Save-Data": "on"]
        ) { ($0.savingQuality, $0.savingGrammar) = (nil, grammar) }
        #expect(plan.request.image.output.quality == 70)
        #expect(plan.request.presets == ["default"] && plan.varies.contains("Save-Data"))
        let other = try hinted("/_/q:70/plain/http://h/a.jpg", ["Save-Data": "off"]) {
            ($0.savingQuality, $0.savingGrammar) = (nil, grammar)
        }
        #expect(other.request.presets.isEmpty && other.varies.contains("Save-Data"))
    }

    // MARK: - Uploads

    private static let token = "0123456789abcdef"

    private func sent(
        _ target: String, _ authorization: String?, length: Int = 5, method: String = "POST"
    ) throws -> Verdict {
        var fields = ["Content-Length": "\(length)"]
        fields["Authorization"] = authorization
        return try WebFrontSettings.unsigned { settings in
            let grammar = try ImgproxyGrammar.unsigned {
                $0.sources.schemes = SourceSchemes([UploadSettings.scheme])
            }
            let tokens = ["another-token-xx", Self.token].map { Array($0.utf8) }
            settings.uploads = UploadSettings(
                grammar: grammar, tokens: try #require(BearerTokens(tokens)), bytesMax: 100)
        }.verdict(on: target, method: method, fields)
    }

    private static let upload = "/_/w:100/plain/upload://body"

    @Test func bytesTakeThePlaceOfASource() throws {
        let plan = try #require(try sent(Self.upload, "bearer  \(Self.token)").plan)
        #expect(plan.request.image.url.isEmpty && plan.upload == .body)
        #expect(plan.request.image.steps.count == 1 && plan.varies == ["Accept"])
        #expect(!plan.request.image.options.contains(.respectCacheControl))
    }

    @Test(
        arguments: [
            (nil, 401), ("", 401), ("Bearer", 401), ("Basic \(token)", 401),
            ("Bearer \(token)0", 401), ("Bearer \(token.dropLast())", 401),
            ("Bearer 0123456789abcdeF", 401), (token, 401),
        ] as [(String?, UInt16)])
    func nobodySendsWithoutAToken(authorization: String?, status: UInt16) throws {
        let answer = try #require(try sent(Self.upload, authorization).answer)
        #expect(answer.status == status)
        #expect(answer.field("WWW-Authenticate") == "Bearer")
    }

    @Test(arguments: [
        (upload, 101, UInt16(413)), ("/_/plain/http://h/a.jpg", 5, 400), ("/nobody/x", 5, 400),
        ("/_/raw:1/plain/upload://body", 5, 400),
    ])
    func whatIsSentHasToBeAnImage(target: String, length: Int, status: UInt16) throws {
        let verdict = try sent(target, "Bearer \(Self.token)", length: length)
        #expect(verdict.answer?.status == status, "\(verdict)")
    }

    @Test(arguments: ["POST", "PUT", "get"])
    func otherMethodsAreRefused(method: String) throws {
        let answer = try answer(Self.image, method: method)
        #expect(answer?.status == 405)
        #expect(answer?.field("Allow") == "GET, HEAD, OPTIONS")
        let known = try #require(try sent(Self.upload, nil, method: "PUT").answer)
        #expect(known.status == 405)
        #expect(known.field("Allow") == "GET, HEAD, OPTIONS, POST")
    }

    /// The response to a preflight lists what is permitted, if anything is (Fetch standard, section
    /// 3.2.2).
    @Test(arguments: [("*", true), (nil, false)] as [(String?, Bool)])
    func aPreflightIsAnswered(origins: String?, isPermitted: Bool) throws {
        let fields = [
            "Access-Control-Request-Method": "GET",
            "Access-Control-Request-Headers": "range, x-mine",
        ]
        let answer = try answer(Self.image, method: "OPTIONS", fields) { settings in
            if let origins { settings.crossOrigin = try #require(CrossOriginAccess(origins)) }
        }
        #expect(answer?.status == 204 && answer?.body.isEmpty == true)
        let field = answer?.field("Access-Control-Allow-Headers")
        #expect(field == (isPermitted ? "range, x-mine" : nil))
    }

    /// An empty list of headers is omitted.
    @Test func aPreflightWithoutHeadersNamesNone() throws {
        let fields = [
            "Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "",
        ]
        let answer = try answer(Self.image, method: "OPTIONS", fields) { settings in
            settings.crossOrigin = try #require(CrossOriginAccess("*"))
        }
        #expect(answer?.status == 204)
        #expect(answer?.field("Access-Control-Allow-Headers") == nil)
    }

    /// RFC 9112 §3.2.2: the host of the target counts.
    @Test func aTargetMayBeInAbsoluteForm() throws {
        let plan = try plan("http://images.example\(Self.image)", ["Host": "other"])
        #expect(plan == (try self.plan(Self.image, ["Host": "images.example"])))
        for (target, path) in [
            ("HTTPS://h:8/live?x", "/live"), ("http://h", "/"), ("http://h?x", "/"),
            ("/http://h/a", "/http://h/a"), ("*", "*"), ("http:///a", "http:///a"),
        ] {
            let head = IncomingRequest("GET", target) { _ in nil }
            #expect(head.path == path[...], "\(target)")
        }
    }

    // MARK: - Operators

    /// `no-cache` only counts with a token.
    @Test(
        arguments: [
            ("no-cache", nil, "Bearer \(token)", true),
            ("max-age=0, No-Cache", nil, "bearer \(token)", true),
            (nil, "no-cache", "Bearer \(token)", true),
            ("no-cache", nil, nil, false), ("no-cache", nil, "Bearer \(token)0", false),
            ("max-age=0", nil, "Bearer \(token)", false), (nil, nil, "Bearer \(token)", false),
            ("no-cacheable", nil, "Bearer \(token)", false),
        ] as [(String?, String?, String?, Bool)])
    func operatorsHaveTheOriginAsked(
        control: String?, pragma: String?, authorization: String?, isAsked: Bool
    ) throws {
        var fields: [String: String] = [:]
        (fields["Cache-Control"], fields["Pragma"]) = (control, pragma)
        fields["Authorization"] = authorization
        let plan = try plan(Self.image, fields) { settings in
            settings.operators = BearerTokens([Array(Self.token.utf8)])
        }
        #expect(plan.request.image.options.contains(.refreshCached) == isAsked)
        #expect(plan.request.image.options.contains(.respectCacheControl))
        let others = try self.plan(Self.image, fields)
        #expect(!others.request.image.options.contains(.refreshCached), "no operator exists")
    }

    @Test(arguments: [[], ["short"], [String(repeating: "x", count: 1_025)]])
    func aTokenIsLongEnough(tokens: [String]) throws {
        #expect(BearerTokens(tokens.map { Array($0.utf8) }) == nil)
    }
}
