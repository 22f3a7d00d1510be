import Model
import Nettle
import WebGrammar

/// The first byte selects the grammar, the rest is a path.
///
/// An accepted path yields a request that the stack accepts, and parses to the same result again.
/// If paths are signed, it was signed with a key of the grammar; a signed path parses like an
/// unsigned one.
enum GrammarTarget {
    static func run(_ bytes: [UInt8]) throws(BrokenInvariant) {
        var reader = ByteReader(bytes)
        let kind = reader.choice(6)
        let path = reader.rest()
        switch kind {
        case 0: try check([slash] + path, iiif)
        case 1: try check(Array("/_/".utf8) + path, presets)
        case 2:
            try check(path, open: openThumbor, closed: closedThumbor, .sha1)
            try check(path, open: openImagor, closed: closedImagor, .sha1)
        case 3: try check(path, open: openImgproxy, closed: closedImgproxy, .sha256)
        default: try check(Array("/?".utf8) + path, weserv)
        }
    }

    private static let key = Array("lilac".utf8)
    private static let salt = Array("sugar".utf8)
    private static let slash = UInt8(ascii: "/")

    // MARK: - Grammars

    private static let openImgproxy = imgproxy { $0.permitsUnsigned = true }
    private static let closedImgproxy = imgproxy { $0.permitsUnsigned = false }
    private static let presets = imgproxy {
        $0.permitsUnsigned = true
        $0.onlyPresets = true
    }
    private static let openThumbor = thumbor(.thumbor, isOpen: true)
    private static let closedThumbor = thumbor(.thumbor, isOpen: false)
    private static let openImagor = thumbor(.imagor, isOpen: true)
    private static let closedImagor = thumbor(.imagor, isOpen: false)
    private static let iiif = try? IIIFGrammar(IIIFGrammar.Settings(source: "https://h/{id}"))

    private static let weserv = {
        var settings = WeservGrammar.Settings()
        settings.permitsUnsigned = true
        return WeservGrammar(settings)
    }()

    private static func imgproxy(
        _ change: (inout ImgproxyGrammar.Settings) -> Void
    ) -> ImgproxyGrammar? {
        var settings = ImgproxyGrammar.Settings()
        settings.keys = [SigningKey(key: key, salt: salt)].compactMap { $0 }
        settings.watermark = "https://h/m.png"
        settings.presets =
            (try? ImgproxyPresets(["default": "q:70", "a": "w:300/pr:b", "b": "dpr:2/sh:1"]))
            ?? ImgproxyPresets()
        change(&settings)
        return try? ImgproxyGrammar(settings)
    }

    private static func thumbor(_ dialect: ThumborDialect, isOpen: Bool) -> ThumborGrammar? {
        var settings = ThumborGrammar.Settings(dialect)
        settings.keys = [SigningKey(key: key)].compactMap { $0 }
        settings.permitsUnsigned = isOpen
        return try? ThumborGrammar(settings)
    }

    // MARK: - Invariants

    /// Checks a path without its signature, both with signing required and without.
    private static func check(
        _ path: [UInt8], open: (some URLGrammar)?, closed: (some URLGrammar)?, _ algorithm: HMAC
    ) throws(BrokenInvariant) {
        guard let closed else { throw BrokenInvariant(what: "the grammar is made") }
        let wanted = try check(Array("/unsafe/".utf8) + path, open)
        let signed = [slash] + signature(of: path, algorithm) + [slash] + path
        try expect(read(signed, by: closed) == wanted, "what is signed is read as what need not be")
        if case .success = read([slash] + path, by: closed) {
            try expect(isSigned(path, algorithm), "what is accepted is signed")
        }
    }

    /// Parses a target and checks its invariants. Returns the result.
    @discardableResult
    private static func check(
        _ target: [UInt8], _ grammar: (some URLGrammar)?
    ) throws(BrokenInvariant) -> Result<WebRequest, GrammarError> {
        guard let grammar else { throw BrokenInvariant(what: "the grammar is made") }
        let outcome = read(target, by: grammar)
        try expect(read(target, by: grammar) == outcome, "a target is read the same again")
        switch outcome {
        case .success(let request): try check(request)
        case .failure(let error):
            try expect(
                error.message.utf8.count < 500 && (400...501).contains(error.status),
                "an error is a sentence")
        }
        return outcome
    }

    private static func check(_ request: WebRequest) throws(BrokenInvariant) {
        let image = request.image
        guard let url = try? SourceURL(image.url) else {
            throw BrokenInvariant(what: "an accepted source is a URL")
        }
        try expect(SourceSchemes.usual.names.contains(url.scheme), "its scheme is one told")
        try expect(image.steps.count <= RequestLimits.stepsMax, "steps are few")
        try expect(image.overlays.count <= RequestLimits.overlaysMax, "overlays are few")
        let isPermitted = image.allSteps.allSatisfy {
            (try? $0.form.check(pixelsMax: RequestLimits.pixelsMax)) != nil
        }
        try expect(isPermitted && (try? image.output.check()) != nil, "the stack accepts it")
        try expect(
            request.kind == .image || (image.steps.isEmpty && image.output.isDefault),
            "only an image is worked on")
        try expect(
            image.infoOnly == (request.kind == .properties), "facts are asked for where wanted")
        try expect(image.nominalSize.isPositive, "it has a size")
        try expect(
            !CacheKey.result(image, url: url, terms: LoadTerms()).isEmpty, "it has a key")
    }

    // MARK: - Signatures

    /// The signature of a path. The query isn't signed.
    private static func signature(of path: [UInt8], _ algorithm: HMAC) -> [UInt8] {
        let signed = Array(path.prefix { $0 != UInt8(ascii: "?") })
        let parts = algorithm == .sha1 ? [signed] : [salt, [slash], signed]
        return base64(algorithm.code(of: parts, key: key))
    }

    /// Whether a path begins with the signature of its rest. True for paths that a proxy may have
    /// changed after signing, which aren't checked here.
    private static func isSigned(_ path: [UInt8], _ algorithm: HMAC) -> Bool {
        guard let end = path.firstIndex(of: slash) else { return false }
        let rest = Array(path[(end + 1)...])
        let isChanged = rest.contains(UInt8(ascii: "%")) || rest.contains(UInt8(ascii: ":"))
        let stated = path[..<end].prefix { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: "%") }
        return isChanged || stated.elementsEqual(signature(of: rest, algorithm))
    }

    private static func read(
        _ target: [UInt8], by grammar: some URLGrammar
    ) -> Result<WebRequest, GrammarError> {
        do throws(GrammarError) {
            return .success(try grammar.read(target, now: 1_000_000))
        } catch {
            return .failure(error)
        }
    }

    /// Base64url without padding (RFC 4648 §5).
    private static func base64(_ bytes: [UInt8]) -> [UInt8] {
        let digits = Array(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        return stride(from: 0, to: bytes.count, by: 3).flatMap { start in
            let part = bytes[start..<min(start + 3, bytes.count)]
            let bits = (0..<3).reduce(UInt32(0)) { bits, place in
                bits << 8 | UInt32(place < part.count ? part[start + place] : 0)
            }
            return (0...part.count).map { digits[Int(bits >> UInt32(18 - 6 * $0)) & 63] }
        }
    }
}
