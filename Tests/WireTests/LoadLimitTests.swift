import Model
import Testing

@testable import Wire

/// Each rule of a `Load`, violated by hand; the error carries the token.
@Suite struct LoadLimitTests {
    private static let tokenBytes = (1...16).map { UInt8($0) }
    private static let token = Identifier128(bytes: tokenBytes).map { Token($0) }

    private static func image(_ url: String = "http://h/a.png") -> ProtobufBytes {
        ProtobufBytes().text(1, url)
    }

    private static func size(_ width: UInt64, _ height: UInt64) -> ProtobufBytes {
        ProtobufBytes().number(1, width).number(2, height)
    }

    private static func step(_ resize: ProtobufBytes) -> ProtobufBytes {
        ProtobufBytes().message(1, resize)
    }

    struct Case: CustomTestStringConvertible {
        let testDescription: String
        let image: ProtobufBytes
        let field: String
        let problem: FieldError.Problem

        init(_ name: String, _ image: ProtobufBytes, _ field: String, _ problem: FieldError.Problem)
        {
            (testDescription, self.image, self.field, self.problem) = (name, image, field, problem)
        }
    }

    static let cases: [Case] = [
        Case(
            "a URL of 8,193 bytes", image(String(repeating: "u", count: 8_193)),
            "ImageRequest.url", .tooLong(limit: 8_192)),
        Case(
            "a URL that is not UTF-8", ProtobufBytes().bytes(1, [0x68, 0xFF, 0x68]),
            "ImageRequest.url", .notText),
        Case(
            "a URL with an overlong form", ProtobufBytes().bytes(1, [0xC0, 0xAF]),
            "ImageRequest.url", .notText),
        Case(
            "a URL with a NUL", ProtobufBytes().bytes(1, Array("http://h/\0evil".utf8)),
            "ImageRequest.url", .notText),
        Case(
            "65 headers", image().repeating(65) { $0.message(2, ProtobufBytes().text(1, "a")) },
            "ImageRequest.headers", .tooMany(limit: 64)),
        Case(
            "headers of 16,385 bytes",
            image().message(2, ProtobufBytes().text(1, "a").text(2, "b"))
                .message(2, ProtobufBytes().text(2, String(repeating: "v", count: 16_383))),
            "ImageRequest.headers", .tooLong(limit: 16_384)),
        Case(
            "33 steps",
            image().repeating(33) { $0.message(4, ProtobufBytes().message(4, ProtobufBytes())) },
            "ImageRequest.steps", .tooMany(limit: 32)),
        Case("a step of no kind", image().message(4, ProtobufBytes()), "Step.step", .missing),
        Case(
            "a resize without a box", image().message(4, step(ProtobufBytes().number(2, 1))),
            "Resize.box", .missing),
        Case(
            "a mode that does not exist",
            image().message(4, step(ProtobufBytes().message(1, size(1, 1)).number(2, 9))),
            "Resize.mode", .unknownValue),
        Case(
            "a negative mode",
            image().message(4, step(ProtobufBytes().message(1, size(1, 1)).number(2, .max))),
            "Resize.mode", .unknownValue),
        Case(
            "an angle that is not a number",
            image().message(4, ProtobufBytes().message(3, ProtobufBytes().double(1, .nan))),
            "Rotate.radians", .outOfRange),
        Case(
            "an infinite angle",
            image().message(4, ProtobufBytes().message(3, ProtobufBytes().double(1, .infinity))),
            "Rotate.radians", .outOfRange),
        Case(
            "a format that does not exist", image().message(5, ProtobufBytes().number(1, 99)),
            "Output.format", .unknownValue),
        Case(
            "a third cache tier", image().number(8, 4), "ImageRequest.query_cache_types",
            .unknownValue),
        Case(
            "cache tiers beyond a byte", image().number(11, 0x103),
            "ImageRequest.original_store_cache_types", .unknownValue),
        Case(
            "a thumbnail without a box", image().message(3, ProtobufBytes().number(2, 1)),
            "Thumbnail.box", .missing),
    ]

    @Test(arguments: cases)
    func aBrokenRuleIsNamedTogetherWithTheToken(_ broken: Case) throws {
        let body = ProtobufBytes().bytes(1, Self.tokenBytes).message(3, broken.image)
        let frames = Frames(header: FrameHeader(kind: .load).bytes, body: body.bytes)
        let fault = FieldError(field: broken.field, problem: broken.problem)
        #expect(throws: WireError.field(fault, token: Self.token)) { try frames.clientMessage() }
    }

    @Test func theTokenItselfMustHave16Bytes() throws {
        for count in [0, 1, 15, 17] {
            let body = ProtobufBytes().bytes(1, [UInt8](repeating: 1, count: count))
                .message(3, Self.image())
            let fault = FieldError(field: "Load.token", problem: .notAnIdentifier)
            #expect(throws: WireError.field(fault, token: nil)) {
                try Frames(header: FrameHeader(kind: .load).bytes, body: body.bytes).clientMessage()
            }
        }
    }

    @Test func theRestOfALoadIsCheckedToo() throws {
        let start = ProtobufBytes().bytes(1, Self.tokenBytes)
        let broken: [(ProtobufBytes, FieldError)] = [
            (start, FieldError(field: "Load.image", problem: .missing)),
            (
                start.bytes(2, [1]).message(3, Self.image()),
                FieldError(field: "Load.group", problem: .notAnIdentifier)
            ),
            (
                start.message(3, Self.image()).number(5, 256),
                FieldError(field: "Load.stale_retries", problem: .outOfRange)
            ),
        ]
        for (body, fault) in broken {
            #expect(throws: WireError.field(fault, token: Self.token)) {
                try Frames(header: FrameHeader(kind: .load).bytes, body: body.bytes).clientMessage()
            }
        }
    }

    @Test func absentWishesAreTheDefaults() throws {
        let body = ProtobufBytes().bytes(1, Self.tokenBytes).message(3, Self.image())
        let frames = Frames(header: FrameHeader(kind: .load).bytes, body: body.bytes)
        let token = try #require(Self.token)
        let plain = LoadRequest(token: token, image: ImageRequest(url: "http://h/a.png"))
        #expect(try frames.clientMessage() == .load(plain))
        #expect(try Frames(.load(plain)).body == body.bytes)
    }

    @Test func unknownFieldsAreIgnored() throws {
        let body = ProtobufBytes().bytes(1, Self.tokenBytes)
            .message(3, Self.image().text(100, "later").number(101, 7)).double(200, 1)
        let frames = Frames(header: FrameHeader(kind: .load).bytes, body: body.bytes)
        let token = try #require(Self.token)
        #expect(
            try frames.clientMessage()
                == .load(LoadRequest(token: token, image: ImageRequest(url: "http://h/a.png"))))
    }

    @Test func whatTheReceiverWouldRefuseIsNotSent() throws {
        let token = try #require(Self.token)
        var tooManySteps = ImageRequest(url: "http://h/")
        tooManySteps.steps = Array(
            repeating: .flip(horizontal: true, vertical: true), count: 33)
        var endless = ImageRequest(url: "http://h/")
        endless.steps = [.rotate(Rotation(radians: .infinity, fitsSize: true))]
        let refused: [(ImageRequest, FieldError)] = [
            (
                ImageRequest(url: "http://h/\0"),
                FieldError(field: "ImageRequest.url", problem: .notText)
            ),
            (
                tooManySteps,
                FieldError(field: "ImageRequest.steps", problem: .tooMany(limit: 32))
            ),
            (endless, FieldError(field: "Rotate.radians", problem: .outOfRange)),
        ]
        for (image, fault) in refused {
            #expect(throws: WireError.field(fault, token: token)) {
                try Frames(.load(LoadRequest(token: token, image: image)))
            }
        }
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
