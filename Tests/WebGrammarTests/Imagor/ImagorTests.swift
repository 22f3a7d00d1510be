import Model
import Nettle
import Testing

@testable import WebGrammar

/// imagor's dialect of thumbor's URLs.
@Suite struct ImagorTests {
    private func grammar(
        _ keys: [String] = [], unsigned: Bool = true,
        _ change: (inout ThumborGrammar.Settings) -> Void = { _ in }
    ) throws -> ThumborGrammar {
        var settings = ThumborGrammar.Settings(.imagor)
        settings.keys = keys.compactMap { SigningKey(key: Array($0.utf8)) }
        settings.permitsUnsigned = unsigned
        change(&settings)
        return try ThumborGrammar(settings)
    }

    @Test(arguments: ImagorRows.good)
    func aPartComesToItsRequest(row: GoodRow) throws {
        var wanted = WebRequest(ImageRequest(url: "https://h/a.jpg"))
        row.change(&wanted)
        #expect(try grammar().read("/unsafe/\(row.text)/https://h/a.jpg") == wanted)
    }

    @Test(arguments: ImagorRows.bad)
    func aBadPartIsRefusedByName(row: BadRow) throws {
        let refusal = try grammar().refusal("/unsafe/\(row.text)/https://h/a.jpg")
        #expect(refusal.status == row.status, "\(refusal)")
        #expect((refusal.option ?? "") == row.option || refusal.message.contains(row.option))
    }

    @Test func everyFilterHasAGoodAndABadRow() {
        for name in ImagorFilter.all.flatMap(\.names) {
            let isIn = { (text: String) in text.contains("\(name)(") }
            #expect(ImagorRows.good.map(\.text).contains(where: isIn), "\(name)")
            #expect(ImagorRows.bad.map(\.text).contains(where: isIn), "\(name)")
            #expect(!ImagorFilter.absent.contains(name))
        }
        let shared = Set(ThumborFilter.all.flatMap(\.names))
        #expect(shared.isDisjoint(with: ImagorFilter.absent))
    }

    /// The filters that imagor 1.9.5 reads: `NewProcessor` in `processor.go`, `process.go` and
    /// `imagor.go`.
    @Test func noFilterOfImagorIsUnknown() throws {
        let names = """
            image watermark round_corner rotate label text grayscale invert brightness \
            background_color contrast modulate hue saturation rgb blur sharpen strip_icc strip_exif \
            to_colorspace trim padding proportion crop draw_detections pixelate redact redact_oval \
            fill format fallback_format quality autojpg palette bitdepth compression max_bytes \
            strip_metadata lossless max_frames stretch upscale no_upscale page dpi orient focal \
            avgcolor blurhash thumbhash expire raw preview attachment max_age
            """
        let known = Set(ThumborFilter.all.flatMap(\.names)).union(
            ImagorFilter.all.flatMap(\.names))
        let listed = Set(names.split(separator: " ").map(String.init))
        #expect(known.union(ImagorFilter.absent).subtracting(["damaged"]) == listed)
        for name in ImagorFilter.absent {
            let refusal = try grammar().refusal("/unsafe/filters:\(name)(1)/https://h/a")
            #expect(refusal.status == 501 && refusal.option == name)
        }
    }

    // MARK: - Signatures

    /// The paths of imagor's documentation ("Security"); the codes are those of `openssl dgst -hmac
    /// mysecret -binary` with `basenc --base64url`.
    @Test(
        arguments: [
            (HMAC.sha1, nil, "cST4Ko5_FqwT3BDn-Wf4gO3RFSk="),
            (.sha1, 15, "cST4Ko5_FqwT3BDn-Wf4"),
            (.sha256, nil, "IGEn3TxngivD0jy4uuiZim2bdUCvhcnVi1Nm0xGyd9E="),
            (.sha256, 30, "IGEn3TxngivD0jy4uuiZim2bdUCvhcnVi1Nm0xGy"),
            (
                .sha512, nil,
                "pz0HppC3eVHj_KGn7jh3KvZEmC6gE-AbENJih2cO-Vyv83atC7MoZKEoGMxETN27v6M3PJei5ZTReGu_tcxXbg=="
            ),
        ] as [(HMAC, Int?, String)])
    func whatImagorSignsIsSignedTheSame(algorithm: HMAC, bytes: Int?, code: String) throws {
        let path =
            "500x500/top/raw.githubusercontent.com/cshum/imagor/master/testdata/gopher.png"
        let grammar = try grammar(["other", "mysecret"], unsigned: false) {
            ($0.algorithm, $0.signatureBytes) = (algorithm, bytes)
        }
        let read = try grammar.read("/\(code)/\(path)")
        #expect(
            read.image.url
                == "https://raw.githubusercontent.com/cshum/imagor/master/testdata/gopher.png")
        #expect(
            read.image.steps
                == [.resize(500, 500, .cover), .cropTo(500, 500, .at(0.5, 0))])
        #expect(try grammar.refusal("/\(code)/\(path)x").status == 403)
        #expect(try grammar.refusal("/\(code.dropLast(8))/\(path)").status == 403)
        #expect(try grammar.refusal("/unsafe/\(path)").status == 403)
        let signing = try self.grammar(["mysecret"], unsigned: false) {
            ($0.algorithm, $0.signatureBytes) = (algorithm, bytes)
        }
        #expect(try signing.target(ofPath: path) == "/\(code)/\(path)")
    }

    @Test(arguments: [7, 21]) func anImpossibleSizeOfSignaturesIsRefused(bytes: Int) {
        let error = #expect(throws: GrammarError.self) { try grammar { $0.signatureBytes = bytes } }
        #expect(error?.message.contains("8 and 20") == true)
    }

    /// Clients encode a path after it was signed: imagor then verifies and parses the decoded path.
    /// The codes are those of `openssl dgst -sha1 -hmac thistledown -binary`.
    @Test(arguments: [
        (
            "Lhvn1At1OT6gfcw2qMQNWAj3ZQk=",
            "fit-in%2F90x80%2F1x2%3A3x4%2Ffilters%3Afill%28white%29%2Fh.org%2Fa.jpg",
            "https://h.org/a.jpg"
        ),
        (
            "Lhvn1At1OT6gfcw2qMQNWAj3ZQk=",
            "fit-in/90x80/1x2:3x4/filters:fill%28white%29/h.org/a.jpg", "https://h.org/a.jpg"
        ),
        (
            "I-orFhyr-w_7hheyrvibKpip6J0=", "filters:blur(8)/https://h/a%20b.jpg",
            "https://h/a%20b.jpg"
        ),
        (
            "I-orFhyr-w_7hheyrvibKpip6J0=", "filters:blur(8)/https://h/a+b.jpg",
            "https://h/a%20b.jpg"
        ),
        ("aA45WI3m1OIspTO0-d_y_G5sqj4=", "90x80/https://h/b%C3%BC.jpg", "https://h/b%C3%BC.jpg"),
    ])
    func theDecodedPathMayBeSigned(code: String, path: String, url: String) throws {
        let grammar = try grammar(["thistledown"], unsigned: false)
        let read = try grammar.read("/\(code)/\(path)")
        #expect(read.image.url == url && !read.image.steps.isEmpty)
        #expect(try grammar.refusal("/\(code)/\(path)x").status == 403)
    }

    // MARK: - Sources

    @Test(arguments: [
        ("https://h/a.jpg", "https://h/a.jpg"), ("h.org/a.jpg", "https://h.org/a.jpg"),
        ("http://h/a.jpg", "http://h/a.jpg"),
        ("https:%2F%2Fh%2Fa.png%3Ffoo=bar", "https://h/a.png?foo=bar"),
        ("https://h/a%20b.jpg", "https://h/a%20b.jpg"),
        ("https://h/a+b.jpg", "https://h/a%20b.jpg"),
        ("https://h/a%2Bb.jpg", "https://h/a+b.jpg"),
        ("https://h/photo%281%29%2Cv2.jpg", "https://h/photo(1),v2.jpg"),
        ("filters:blur(8)/https://h/photo(1).jpg", "https://h/photo(1).jpg"),
        ("b64:aHR0cHM6Ly9oL2EgYitjKDEpLmpwZw", "https://h/a%20b+c(1).jpg"),
        ("90x80/b64:aHR0cHM6Ly9oL2EgYitjKDEpLmpwZw==", "https://h/a%20b+c(1).jpg"),
        ("smart%2Fimg.org", "https://smart/img.org"),
        ("data:image/png;base64,A+/B", "data:image/png;base64,A+/B"),
    ])
    func theSourceIsTheRest(text: String, url: String) throws {
        #expect(try grammar().read("/unsafe/\(text)").image.url == url)
    }

    /// Text behind `b64:` that isn't Base64 is a name, as in imagor.
    @Test func whatOnlyLooksLikeBase64IsAName() throws {
        let based = try grammar { $0.sources.base = "https://h/" }
        let read = try based.read("/unsafe/b64:some-file.jpg")
        #expect(read.image.url == "https://h/b64:some-file.jpg")
    }

    @Test(arguments: [
        ("/unsafe/color:red", 501, "color"), ("/unsafe/90x80/COLOR:ff0000", 501, "color"),
        ("/params/unsafe/90x80/https://h/a.jpg", 501, "params"),
        ("/unsafe/90x80/fit-in/https://h/a.jpg", 501, "fit-in"),
        ("/unsafe/rounded/https://h/a.jpg", 400, "rounded"),
        ("/unsafe/debug/90x80/https://h/a.jpg", 400, "debug"),
    ])
    func whatIsNoSourceIsRefusedByName(target: String, status: Int, option: String) throws {
        let refusal = try grammar().refusal(target)
        #expect(refusal.status == status && refusal.option == option, "\(refusal)")
    }

    @Test func unsignedPathsAreReadOnlyWhereThatIsSaid() throws {
        let closed = try grammar(["a"], unsigned: false)
        for word in ["unsafe", "_", "90x80", "adaptive-full-fit-in"] {
            #expect(try closed.refusal("/\(word)/https://h/a.jpg").status == 403)
        }
    }

    /// A plus sign in a source would be read as a blank.
    @Test func aSourceIsReadAgainAsItWas() throws {
        let grammar = try grammar()
        let path = grammar.path(options: "90x80", source: "https://h/a+b (1).jpg?x=1+2")
        let read = try grammar.read(grammar.target(ofPath: path))
        #expect(read.image.url == "https://h/a+b%20(1).jpg?x=1+2")
    }

    @Test func deepBracketsAreRead() throws {
        let deep =
            String(repeating: "(", count: 2_000) + String(repeating: ")", count: 2_000)
        #expect(try grammar().refusal("/unsafe/filters:image\(deep)/h/a").status == 501)
        let most = Array(repeating: "quality(5)", count: 64).joined(separator: ":")
        #expect(try grammar().read("/unsafe/filters:\(most)/h.org/a").image.output.quality == 5)
        #expect(try grammar().refusal("/unsafe/filters:\(most):quality(6)/h/a").status == 400)
    }
}
