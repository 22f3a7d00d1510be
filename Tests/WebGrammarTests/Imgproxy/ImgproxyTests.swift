import Model
import Testing

@testable import WebGrammar

/// imgproxy's options, each with the resulting request.
@Suite struct ImgproxyTests {
    private static let source = "https://img.example.org/a.jpg"

    private func grammar(
        _ change: (inout ImgproxyGrammar.Settings) throws -> Void = { _ in }
    ) throws -> ImgproxyGrammar {
        var settings = ImgproxyGrammar.Settings()
        settings.permitsUnsigned = true
        settings.watermark = ImgproxyRows.mark
        settings.watermarkOpacity = 0.8
        settings.presets = try ImgproxyPresets([
            "sharp": "sh:0.5", "small": "w:30/pr:sharp/q:40",
        ])
        try change(&settings)
        return try ImgproxyGrammar(settings)
    }

    private func wanted(_ row: GoodRow) -> WebRequest {
        var request = WebRequest(ImageRequest(url: Self.source))
        row.change(&request)
        request.saysPixelRatio = row.text.split(separator: "/").contains { $0.hasPrefix("dpr:") }
        return request
    }

    @Test(arguments: ImgproxyRows.good)
    func anOptionComesToItsRequest(row: GoodRow) throws {
        let read = try grammar().read("/_/\(row.text)/plain/\(Self.source)")
        #expect(read == wanted(row))
    }

    @Test(arguments: ImgproxyRows.bad)
    func aBadOptionIsRefusedByName(row: BadRow) throws {
        let refusal = try grammar().refusal("/_/\(row.text)/plain/\(Self.source)")
        #expect(refusal.status == row.status)
        #expect(refusal.option == row.option)
        #expect(refusal.message.hasPrefix("\(row.option): "))
    }

    /// Under each of its names.
    @Test func everyOptionHasAGoodAndABadRow() {
        func names(_ texts: [String]) -> Set<String> {
            Set(texts.flatMap { $0.split("/") }.map { $0.split(":")[0] })
        }
        let (good, bad) = (
            names(ImgproxyRows.good.map(\.text)), names(ImgproxyRows.bad.map(\.text))
        )
        let all = Set(ImgproxyOption.byName.keys)
        #expect(all.subtracting(good).isEmpty)
        #expect(all.subtracting(bad).isEmpty)
        #expect(ImgproxyOption.absent.isDisjoint(with: all))
    }

    /// Whatever their order in the URL is.
    @Test func stepsAreInImgproxysOrder() throws {
        let options = [
            "wm:1", "col:1", "bg:fff", "pd:1", "ex:1", "ush:always", "pix:4", "sh:1", "bl:3",
            "dt:1", "mc:1", "sa:2", "co:2", "br:1", "s:30:40", "c:50:60", "fl:1", "rot:90", "t:9",
        ]
        let wanted = [
            "trim", "rotate", "flip", "crop-to", "resize", "brightness", "contrast", "modulate",
            "monochrome", "color-matrix", "blur", "sharpen", "pixelate", "sharpen", "pad",
            "extend", "flatten", "tint", "overlay",
        ]
        for order in [options, options.reversed()] {
            let path = "/_/\(order.joined(separator: "/"))/plain/\(Self.source)"
            #expect(try grammar().read(path).image.steps.map(\.name) == wanted)
        }
    }

    // MARK: - Sources

    @Test(
        arguments: [
            ("plain/https://h/a.jpg", "https://h/a.jpg", nil),
            ("plain/https://h/a.jpg@", "https://h/a.jpg", nil),
            ("plain/https://h/a.jpg@png", "https://h/a.jpg", .png),
            ("plain/https%3A%2F%2Fh%2Fa%3Fb%40c@webp", "https://h/a?b@c", .webp),
            ("plain/https://h/%C3%A4%20b", "https://h/%C3%A4%20b", nil),
            ("plain/https://h/a%252Fb", "https://h/a%2Fb", nil),
            ("plain/https:/h/a.jpg", "https://h/a.jpg", nil),
            ("w%3A0/plain/https:/h:/a", "https://h:/a", nil),
            ("plain/file:/a/b.png", "file:///a/b.png", nil),
            ("plain/data:image/png;base64,AAAA", "data:image/png;base64,AAAA", nil),
            ("plain/s3://bucket/key", "s3://bucket/key", nil),
            ("aHR0cHM6Ly9oL2EuanBn", "https://h/a.jpg", nil),
            ("aHR0cHM6/Ly9oL2Eu/anBn.png", "https://h/a.jpg", .png),
            ("aHR0cHM6Ly9oL2E_eD0x", "https://h/a?x=1", nil),
            ("aHR0cHM6Ly9oL2EuanBnPw==.gif", "https://h/a.jpg?", .gif),
            ("w%3a0/aHR0cHM6Ly9oL2EuanBn?query", "https://h/a.jpg", nil),
        ] as [(String, String, ImageFormat?)])
    func theSourceIsReadAsImgproxyReadsIt(
        text: String, url: String, format: ImageFormat?
    ) throws {
        let read = try grammar().read("/unsafe/\(text)")
        #expect(read.image.url == url)
        #expect(read.image.output.format == format)
        #expect(read.negotiatesFormat == (format == nil))
    }

    @Test(arguments: [
        "/_/plain/", "/_/", "/", "", "/_", "x", "/_/w:1/", "/_/w:1", "/_/plain/https://h/a@b@png",
        "/_/aHR0cHM6Ly9oL2EuanBn.png.gif", "/_/aHR0cHM6Ly9oL2EuanB", "/_/aHR0c+M6Ly9oL2EuanBn",
        "/_/plain/ftp://h/a", "/_/plain/a.jpg", "/_/plain/https:///a", "/_/plain/https://h/%zz",
        "/_/plain/https://h/%0A", "/_/plain/https://h/ü", "/_/fit/300/400/no/1/aHR0cA",
        "/_/plain/%FF%00", "/_/plain/https://h/a@blob",
    ])
    func whatIsNoSourceIsMalformed(target: String) throws {
        #expect(try grammar().refusal(target).status == 400)
    }

    @Test func aTargetThatIsNoPathIsToldSo() throws {
        for target in ["http://h/_/plain/http://h/a", "*", "h:443"] {
            #expect(try grammar().refusal(target).message.contains("slash"))
        }
        #expect(try grammar().refusal("/").message.contains("empty"))
    }

    /// If a name or the colon is missing, the error is about that, not about Base64.
    @Test func anOptionWithoutANameIsNamed() throws {
        for source in ["http://h/a.png", "a.b.c"] {
            let refusal = try grammar().refusal("/_/w:10/card/plain/\(source)")
            #expect(refusal.status == 400 && refusal.option == "card")
        }
        // A component of Base64 may have that name by chance.
        let encoded = try grammar().read("/_/aHR0cDovL2gvabc/plain")
        #expect(encoded.image.url.hasPrefix("http://h/"))
    }

    @Test func encryptedSourcesAreRefusedByName() throws {
        let refusal = try grammar().refusal("/_/enc/AAAA")
        #expect(refusal.status == 501 && refusal.option == "enc")
    }

    @Test(arguments: ["w:500/c:1000/-/t:10", "-/w:10"])
    func chainedPipelinesAreRefusedByName(options: String) throws {
        let refusal = try grammar().refusal("/_/\(options)/plain/\(Self.source)")
        #expect(refusal.status == 501 && refusal.option == "-")
    }

    /// The options of imgproxy's documentation ("Getting an image info"), by each name.
    @Test(
        arguments: """
            size s format f dimensions d exif iptc xmp video_meta vm detect_objects do classify cl
            colorspace cs bands b sample_format sf pages_number pn alpha a crop c objects_position
            obj_pos op palette p average avg dominant_colors dc blurhash bh thumb_hash th
            perceptual_hash phash ph calc_hashsums chs page pg video_thumbnail_second vts
            video_thumbnail_keyframes vtk bypass_cache bc cache_tags ct preset pr hashsum hs
            max_src_resolution msr max_src_file_size msfs
            """.split { " \n".contains($0) }.map(String.init))
    func optionsOfPropertiesAreRefusedByName(name: String) throws {
        let grammar = try grammar { $0.isForProperties = true }
        let refusal = try grammar.refusal("/_/\(name):1/plain/\(Self.source)")
        #expect(refusal.status == 501 && refusal.option == name)
    }

    @Test func propertiesMayExpire() throws {
        let grammar = try grammar { $0.isForProperties = true }
        let read = try grammar.read("/_/cb:a/exp:1800000000/plain/\(Self.source)")
        #expect(read.expires == 1_800_000_000 && read.image == ImageRequest(url: Self.source))
        #expect(try grammar.refusal("/_/none:1/plain/\(Self.source)").status == 400)
    }

    @Test func schemesAndABaseAreTold() throws {
        let based = try grammar {
            $0.sources.base = "https://img.example.org/"
            $0.sources.schemes = SourceSchemes(["HTTPS"])
        }
        #expect(try based.read("/_/plain/a.jpg").image.url == Self.source)
        #expect(try based.read("/_/plain/\(Self.source)").image.url == Self.source)
        let plain = try grammar { $0.sources.schemes = SourceSchemes(["https"]) }
        #expect(try plain.refusal("/_/plain/http://h/a").message.contains("scheme 'http'"))
    }

    @Test func anotherSeparatorIsTold() throws {
        let grammar = try grammar {
            $0.separator = ","
            $0.presets = try ImgproxyPresets(["p": "w,5/q,9"], separator: ",")
        }
        let read = try grammar.read("/_/rs,fit,300,400/pr,p/plain/\(Self.source)")
        #expect(read.image.steps == [.resize(PixelSize(5, 400), .fit)])
        #expect(read.image.output.quality == 9)
    }

    // MARK: - Limits

    @Test func aURLOfManyBytesIsTooLong() throws {
        let most = "/_/plain/https://h/" + String(repeating: "a", count: 8_192 - 19)
        #expect(try grammar().read(most).image.url.utf8.count == 8_192 - 9)
        #expect(try grammar().refusal(most + "a").status == 414)
    }

    @Test func manyOptionsAreTooMany() throws {
        let most = String(repeating: "q:1/", count: 64)
        #expect(try grammar().read("/_/\(most)plain/\(Self.source)").image.output.quality == 1)
        #expect(try grammar().refusal("/_/q:1/\(most)plain/\(Self.source)").status == 400)
        let presets = Array(repeating: "small", count: 90).joined(separator: ":")
        #expect(try grammar().refusal("/_/pr:\(presets)/plain/\(Self.source)").status == 400)
    }

    @Test func aWatermarkThatIsNotThereIsRefused() throws {
        let refusal = try grammar { $0.watermark = nil }.refusal("/_/wm:1/plain/\(Self.source)")
        #expect(refusal.status == 501 && refusal.option == "wm")
    }

    /// Neither the base URL nor replacements apply, as in imgproxy unless
    /// `IMGPROXY_WATERMARK_PREPROCESS_URL` is set.
    @Test func aURLInAnOptionIsAllowedLikeASource() throws {
        let bound = try grammar {
            $0.sources.base = "https://img.example.org/"
            $0.sources.replacements = try SourceReplacement.list("https://h/=https://other/")
            $0.optionSources = $0.sources
            $0.optionSources.allowed = try SourcePattern.list("https://h/m.png")
        }
        let read = try bound.read("/_/wm:1/wmu:aHR0cHM6Ly9oL20ucG5n/plain/a.jpg")
        #expect(read.image.overlays.map(\.url) == ["https://h/m.png"])
        for option in ["wmu", "fiu"] {
            // "https://h/n.png"
            let refusal = try bound.refusal("/_/\(option):aHR0cHM6Ly9oL24ucG5n/plain/a.jpg")
            #expect(refusal.status == 403 && refusal.option == option)
        }
    }
}
