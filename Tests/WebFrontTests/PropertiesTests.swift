import JSON
import Model
import Testing
import WebGrammar

@testable import WebFront

/// JSON documents about images.
@Suite struct PropertiesTests {
    private static let info = ImageInfo(
        format: .png, size: PixelSize(width: 30, height: 20), pages: 2, hasAlpha: true, bits: 16)

    private func answer(
        _ target: String, _ form: PropertiesForm, _ properties: ImageProperties?,
        _ fields: [String: String] = [:],
        publicURL: String? = nil
    ) throws -> Answer {
        let settings = try WebFrontSettings.unsigned { settings in
            (settings.propertiesForm, settings.publicURL) = (form, publicURL)
            switch form {
            case .plain: break
            case .thumbor: settings.grammar = try ThumborGrammar.unsigned()
            case .iiif:
                settings.grammar = try IIIFGrammar(IIIFGrammar.Settings(source: "http://h/{id}"))
            case .weserv: settings.grammar = WeservGrammar.unsigned()
            }
            if form != .plain { settings.infoGrammar = nil }
        }
        let verdict = settings.verdict(on: target, fields)
        let next = AnswerMaker(settings: settings).nextStep(
            after: .success(DeliveredProperties(info: Self.info, properties: properties)),
            of: try #require(verdict.plan, "\(verdict)"), now: 10_000)
        return try #require(next.text, "\(next)")
    }

    @Test func infoSaysWhatIsKnown() throws {
        var properties = ImageProperties()
        (properties.orientation, properties.thumbHash) = (6, "YJqGPQw7sFlslqhFafSE+Q6oJ1h2iHB2Rw==")
        properties.average = Color(argb: 0x8001_A0FF)
        properties.dominant = Color(argb: 0xFF00_0010)
        let answer = try answer("/info/_/plain/http://h/a.png", .plain, properties)
        let wanted =
            ##"{"averageColour":"#01a0ff80","bits":16,"dominantColour":"#000010","##
            + ##""format":"png","hasAlpha":true,"height":20,"isHDR":false,"##
            + ##""mimeType":"image/png","orientation":6,"pages":2,"profile":null,"##
            + ##""thumbHash":"YJqGPQw7sFlslqhFafSE+Q6oJ1h2iHB2Rw==","width":30}"##
        #expect(answer.words == wanted)
        #expect(answer.field("Content-Type") == "application/json")
        #expect(answer.field("X-Content-Type-Options") == "nosniff")
        #expect(answer.field("Cache-Control") == "public, max-age=3600")
        #expect(answer.field("Vary") == nil && answer.field("ETag") != nil)
    }

    @Test func whoHasThemGetsNone() throws {
        let first = try answer("/info/_/plain/http://h/a.png", .plain, nil)
        let tag = try #require(first.field("ETag"))
        let again = try answer("/info/_/plain/http://h/a.png", .plain, nil, ["If-None-Match": tag])
        #expect(again.status == 304 && again.body.isEmpty)
        var other = ImageProperties()
        other.orientation = 3
        let changed = try answer(
            "/info/_/plain/http://h/a.png", .plain, other, ["If-None-Match": tag])
        #expect(changed.status == 200)
    }

    @Test func metaIsThatOfThumborAndImagor() throws {
        let answer = try answer("/unsafe/meta/http://h/a%22.png", .thumbor, nil)
        let wanted =
            #"{"content_type":"image/png","format":"png","height":20,"#
            + #""orientation":1,"pages":2,"thumbor":{"operations":[],"#
            + #""source":{"frameCount":2,"height":20,"url":"http://h/a%22.png","width":30},"#
            + #""target":{"height":20,"width":30}},"width":30}"#
        #expect(answer.words == wanted)
    }

    @Test func imagorsFiltersAddPropertiesToMeta() throws {
        var properties = ImageProperties()
        (properties.blurHash, properties.thumbHash) = ("LGF5", "3OcR")
        properties.average = Color(argb: 0xFF63_ACE5)
        let answer = try answer("/unsafe/meta/http://h/a.png", .thumbor, properties)
        for member in [
            #""average_color":{"b":229,"g":172,"r":99}"#, #""blurhash":"LGF5""#,
            #""thumbhash":"3OcR""#,
        ] {
            #expect(answer.words.contains(member), "\(answer.words)")
        }
    }

    /// The members as in `utils::image_to_json` of weserv.
    @Test func jsonIsThatOfWeserv() throws {
        let answer = try answer("/?url=h/a.png&output=json", .weserv, nil)
        #expect(
            answer.words
                == #"{"depth":"ushort","format":"png","hasAlpha":true,"hasProfile":false,"#
                + #""height":20,"pages":2,"width":30}"#)
        #expect(answer.field("Content-Type") == "application/json")
    }

    @Test func infoJSONIsThatOfIIIF() throws {
        let answer = try answer("/a%2Fb.png/info.json?x", .iiif, nil, ["Host": "h.example:81"])
        let text = answer.words
        for part in [
            #""@context":"http://iiif.io/api/image/3/context.json""#,
            #""id":"http://h.example:81/a%2Fb.png""#, #""type":"ImageService3""#,
            #""protocol":"http://iiif.io/api/image""#, #""profile":"level2""#, #""width":30"#,
            #""height":20"#, #""extraFormats":["webp","gif","tif"]"#,
            #""extraQualities":["color","gray"]"#,
            #""extraFeatures":["mirroring","rotationArbitrary"]"#,
        ] {
            #expect(text.contains(part), "\(part) in \(text)")
        }
        #expect(!text.contains("sizes") && !text.contains("tiles"))
        #expect(
            answer.field("Content-Type")
                == "application/ld+json;profile=\"http://iiif.io/api/image/3/context.json\"")
        #expect(answer.field("Vary") == "Accept")
    }

    @Test(
        arguments: [
            (nil, true), ("application/json", false), ("*/*", true),
            ("application/ld+json, application/json", true),
            ("text/html, APPLICATION/JSON;q=0.5", false),
        ] as [(String?, Bool)])
    func plainJSONIsForWhoNamesIt(accept: String?, isLinked: Bool) throws {
        var fields: [String: String] = [:]
        fields["Accept"] = accept
        let type = try answer("/a/info.json", .iiif, nil, fields).field("Content-Type")
        #expect(type?.hasPrefix("application/ld+json") == isLinked)
    }

    @Test(
        arguments: [
            ("a\"b", nil, "http://localhost/a"), (nil, nil, "http://localhost/a"),
            ("h/../x", nil, "http://localhost/a"),
            ("h", "https://e.example/p", "https://e.example/p/a"),
        ] as [(String?, String?, String)])
    func whoAsksDoesNotSayWhereWeAreUnlessItIsAHost(
        host: String?, publicURL: String?, id: String
    ) throws {
        var fields: [String: String] = [:]
        fields["Host"] = host
        let answer = try answer("/a/info.json", .iiif, nil, fields, publicURL: publicURL)
        #expect(answer.words.contains("\"id\":\"\(id)\""))
    }

    /// 303 with the path of the document (IIIF Image API 3.0, section 2).
    @Test func theBaseURILeadsToIt() throws {
        let settings = WebFrontSettings(
            grammar: try IIIFGrammar(IIIFGrammar.Settings(source: "http://h/{id}")))
        let answer = settings.verdict(on: "/a%2Fb").answer
        #expect(answer?.status == 303 && answer?.field("Location") == "/a%2Fb/info.json")
    }
}
