import Model
import Testing

@testable import Wire

/// Each rule of a `Load`, violated by hand; the error carries the token.
@Suite struct LoadLimitTests {
    private static let tokenBytes = (1...16).map { UInt8($0) }
    private static let token = Identifier128(bytes: tokenBytes).map { Token($0) }

    private static let image = ProtobufBytes.none.text(1, "http://h/a.png")
    private static let start = ProtobufBytes.none.bytes(1, tokenBytes)

    private static func rule(
        _ name: String, _ image: ProtobufBytes, _ field: String, _ problem: FieldError.Problem
    ) -> BrokenRule {
        BrokenRule(name, .load, start.message(3, image), field, problem)
    }

    private static func step(_ field: UInt64, _ step: ProtobufBytes) -> ProtobufBytes {
        image.message(4, .none.message(field, step))
    }

    private static func resize(mode: UInt64) -> ProtobufBytes {
        step(1, .none.message(1, .none.number(1, 1).number(2, 1)).number(2, mode))
    }

    static let cases: [BrokenRule] = [
        rule(
            "a URL of 8,193 bytes", .none.text(1, long(8_193)), "ImageRequest.url",
            .tooLong(limit: 8_192)),
        rule(
            "a URL that is not UTF-8", .none.bytes(1, [0x68, 0xFF, 0x68]), "ImageRequest.url",
            .notText),
        rule(
            "a URL with an overlong form", .none.bytes(1, [0xC0, 0xAF]), "ImageRequest.url",
            .notText),
        rule("a URL with a NUL", .none.text(1, "http://h/\0evil"), "ImageRequest.url", .notText),
        rule(
            "65 headers", image.repeating(65) { $0.message(2, .none.text(1, "a")) },
            "ImageRequest.headers", .tooMany(limit: 64)),
        rule(
            "headers of 16,385 bytes",
            image.message(2, .none.text(1, "a").text(2, "b"))
                .message(2, .none.text(2, long(16_383))),
            "ImageRequest.headers", .tooLong(limit: 16_384)),
        rule(
            "33 steps", image.repeating(33) { $0.message(4, .none.message(4, .none)) },
            "ImageRequest.steps", .tooMany(limit: 32)),
        rule("a step of no kind", image.message(4, .none), "Step.step", .missing),
        rule("a resize without a box", step(1, .none.number(2, 1)), "Resize.box", .missing),
        rule("a mode that does not exist", resize(mode: 9), "Resize.mode", .unknownValue),
        rule("a negative mode", resize(mode: .max), "Resize.mode", .unknownValue),
        rule(
            "an angle that is not a number", step(3, .none.double(1, .nan)), "Rotate.radians",
            .outOfRange),
        rule(
            "an infinite angle", step(3, .none.double(1, .infinity)), "Rotate.radians",
            .outOfRange),
        rule(
            "a format that does not exist", image.message(5, .none.number(1, 99)),
            "Output.format", .unknownValue),
        rule(
            "a third cache tier", image.number(8, 4), "ImageRequest.query_cache_types",
            .unknownValue),
        rule(
            "cache tiers beyond a byte", image.number(11, 0x103),
            "ImageRequest.original_store_cache_types", .unknownValue),
        rule(
            "a thumbnail without a box", image.message(3, .none.number(2, 1)), "Thumbnail.box",
            .missing),
        BrokenRule("no image", .load, start, "Load.image", .missing),
        BrokenRule(
            "a short group", .load, start.bytes(2, [1]).message(3, image), "Load.group",
            .notAnIdentifier),
        BrokenRule(
            "256 retries", .load, start.message(3, image).number(5, 256), "Load.stale_retries"),
    ]

    @Test(arguments: cases)
    func aBrokenRuleIsNamedTogetherWithTheToken(_ broken: BrokenRule) {
        broken.isReported(for: Self.token) { try $0.clientMessage() }
    }

    @Test(arguments: [0, 1, 15, 17]) func theTokenItselfMustHave16Bytes(count: Int) {
        let body = ProtobufBytes.none.bytes(1, [UInt8](repeating: 1, count: count))
        BrokenRule("\(count)", .load, body.message(3, Self.image), "Load.token", .notAnIdentifier)
            .isReported { try $0.clientMessage() }
    }

    /// Absent wishes are the defaults, and unknown fields are ignored.
    @Test func aPlainLoadIsReadAndWritten() throws {
        let token = try #require(Self.token)
        let plain = ClientMessage.load(
            LoadRequest(token: token, image: ImageRequest(url: "http://h/a.png")))
        let frames = Frames(.load, Self.start.message(3, Self.image))
        #expect(try frames.clientMessage() == plain)
        #expect(try Frames(plain).body == frames.body)
        let image = Self.image.text(100, "later").number(101, 7)
        let later = Frames(.load, Self.start.message(3, image).double(200, 1))
        #expect(try later.clientMessage() == plain)
    }

    @Test(
        arguments: [
            ("http://h/\0", [], "ImageRequest.url", .notText),
            (
                "http://h/", Array(repeating: .flip(horizontal: true, vertical: true), count: 33),
                "ImageRequest.steps", .tooMany(limit: 32)
            ),
            (
                "http://h/", [.rotate(Rotation(radians: .infinity, fitsSize: true))],
                "Rotate.radians", .outOfRange
            ),
        ] as [(String, [TransformStep], String, FieldError.Problem)])
    func whatTheReceiverWouldRefuseIsNotSent(
        url: String, steps: [TransformStep], field: String, problem: FieldError.Problem
    ) throws {
        let token = try #require(Self.token)
        var image = ImageRequest(url: url)
        image.steps = steps
        let refusal = WireError.field(FieldError(field: field, problem: problem), token: token)
        #expect(throws: refusal) { try Frames(.load(LoadRequest(token: token, image: image))) }
    }

    @Test func refusalsOfRequestsAreTypedErrors() throws {
        let token = try #require(Self.token)
        let url = FieldError(field: "ImageRequest.url", problem: .tooLong(limit: 8_192))
        let steps = FieldError(field: "ImageRequest.steps", problem: .tooMany(limit: 32))
        #expect(WireError.field(url, token: token).imageError.code == .invalidURL)
        #expect(WireError.field(steps, token: token).imageError.code == .invalidRequest)
        #expect(WireError.field(steps, token: nil).imageError.code == .protocolViolation)
        #expect(WireError.unsupportedVersion(2).imageError.code == .versionMismatch)
        #expect(
            WireError.field(url, token: token).description
                == "ImageRequest.url has more than 8192 bytes")
    }
}
