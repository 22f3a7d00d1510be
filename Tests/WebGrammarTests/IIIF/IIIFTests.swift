import Model
import Testing
import WebGrammar

/// IIIF's parameters, each with the resulting request.
@Suite struct IIIFTests {
    private func grammar(
        _ source: String = "https://img.example.org/{id}.tif", prefix: String = ""
    ) throws -> IIIFGrammar {
        var settings = IIIFGrammar.Settings(source: source)
        settings.prefix = prefix
        return try IIIFGrammar(settings)
    }

    @Test(arguments: IIIFRows.good)
    func aParameterComesToItsRequest(row: GoodRow) throws {
        var wanted = WebRequest(ImageRequest(url: "https://img.example.org/a.tif"))
        wanted.identifier = "a"
        row.change(&wanted)
        let read = try grammar().read("/a/\(row.text)")
        #expect(read == wanted)
        #expect(!read.negotiatesFormat)
    }

    @Test(arguments: IIIFRows.bad)
    func aBadParameterIsRefusedByName(row: BadRow) throws {
        let refusal = try grammar().refusal("/a/\(row.text)")
        #expect(refusal.status == row.status)
        #expect(refusal.option == row.option)
    }

    @Test func aResultThatIsTooSmallIsKnown() throws {
        let request = try grammar().read("/a/full/90,/0/default.jpg")
        #expect(request.isLargeEnough(PixelSize(90, 1)) && request.isLargeEnough(nil))
        #expect(!request.isLargeEnough(PixelSize(89, 500)))
        let enlarged = try grammar().read("/a/full/^90,/0/default.jpg")
        #expect(enlarged.isLargeEnough(PixelSize(1, 1)))
    }

    @Test func factsAndTheBaseAreKindsOfTheirOwn() throws {
        let grammar = try grammar(prefix: "iiif/3")
        let properties = try grammar.read("/iiif/3/a%20b/info.json?x")
        #expect(
            properties.kind == .properties && properties.image.infoOnly
                && properties.identifier == "a b")
        #expect(properties.image.url == "https://img.example.org/a%20b.tif")
        let base = try grammar.read("/iiif/3/a%20b")
        #expect(base.kind == .redirect(path: "/iiif/3/a%20b/info.json"))
        #expect(try grammar.refusal("/a/info.json").message.contains("iiif/3/"))
        #expect(try grammar.refusal("/iiif/3/").option == "identifier")
    }

    @Test(arguments: [
        ("https://h/{id}", "a%2Fb%3Fc%23d", "https://h/a/b%3Fc%23d"),
        ("https://h/{id}", "%C3%A4%25", "https://h/%C3%A4%25"),
        ("https://h/{id}", "ark:12025%2F654xz321", "https://h/ark:12025/654xz321"),
        ("https://h/{id}?full=1", "a", "https://h/a?full=1"),
        ("file:///{id}", "a.png", "file:///a.png"),
        ("{id}", "https%3A%2F%2Fh%2Fa%3Fb%2Fc", "https://h/a?b/c"),
    ])
    func identifiersArePutIntoTheTemplate(template: String, id: String, url: String) throws {
        #expect(try grammar(template).read("/\(id)/full/max/0/default.jpg").image.url == url)
    }

    /// Identifiers can't escape from the location that the template names.
    @Test(arguments: [
        "..", ".", "..%2Fa", "a%2F..%2Fb", "a%2F%2Fb", "%2Fa", "a%2F", "a%5Cb", "a%00b", "a%0Ab",
        "%FF", "%zz", "",
    ])
    func anIdentifierIsAName(id: String) throws {
        #expect(try grammar().refusal("/\(id)/info.json").status == 400)
    }

    /// IIIF Image API 3.0, sections 3 and 7: a slash inside an identifier is encoded, and a path
    /// with another structure doesn't name an image.
    @Test(arguments: [
        ("/a/b", 404), ("/a/", 404), ("/a/info.json/", 404), ("/a/full/max/0", 404),
        ("/a/full/max/0/default.jpg/x", 404), ("/a/b/full/max/0/default.jpg", 404),
        ("/a/b/info.json", 404), ("/", 400), ("", 400),
    ])
    func nothingIsAtPathsOfOtherForms(target: String, status: Int) throws {
        #expect(try grammar().refusal(target).status == status)
    }

    @Test func nothingIsBesideThePrefix() throws {
        let grammar = try grammar(prefix: "iiif/3")
        #expect(try grammar.refusal("/iiif/2/a/full/max/0/default.jpg").status == 404)
        #expect(try grammar.refusal("/a/full/max/0/default.jpg").status == 404)
    }

    /// Section 4.2: without `^` nothing is enlarged; an exact size that exceeds the region is an
    /// error, while a size within a box may be smaller than the box.
    @Test(arguments: [
        ("1500,1500", PixelSize(1_500, 1_500), false), (",1500", PixelSize(0, 1_500), false),
        ("1500,", PixelSize(1_500, 0), false), ("!2000,3000", nil, false),
        ("^1500,1500", nil, true), ("^!2000,3000", nil, true),
    ])
    func nothingIsEnlargedUnasked(size: String, least: PixelSize?, enlarges: Bool) throws {
        let read = try grammar().read("/a/full/\(size)/0/default.jpg")
        #expect(read.leastSize == least)
        guard case .resize(_, _, let resizeOptions)? = read.image.steps.first else {
            Issue.record("\(read.image.steps)")
            return
        }
        #expect(resizeOptions == enlarges)
        #expect(try grammar().refusal("/a/full/pct:200/0/default.jpg").status == 400)
    }

    @Test func settingsAreLookedAt() throws {
        for template in ["https://h/a", "", "https://{id}/{id}"] {
            #expect(throws: GrammarError.self) { try grammar(template) }
        }
        #expect(try grammar("ftp://h/{id}").refusal("/a/info.json").status == 400)
        let long = "/a" + String(repeating: "b", count: 8_191)
        #expect(try grammar().refusal(long).status == 414)
    }
}
