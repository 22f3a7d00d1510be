import Model
import Testing

@testable import Wire

/// Steps without a message of their own, as any client may encode them.
@Suite struct NamedStepTests {
    private static let tokenBytes = (1...16).map { UInt8($0) }
    private static let token = Identifier128(bytes: tokenBytes).map { Token($0) }

    private func read(_ step: CustomStep) throws -> [TransformStep]? {
        var image = ImageRequest(url: "http://h/a.jpg")
        image.steps = [.custom(step)]
        let load = LoadRequest(token: try #require(Self.token), image: image)
        guard case .load(let back) = try Frames(.load(load)).clientMessage() else { return nil }
        return back.image.steps
    }

    @Test func aCustomStepGoesAcross() throws {
        let step = CustomStep("acme.denoise", parameters: ["strength": "0.5", "passes": "2"])
        #expect(try read(step) == [.custom(step)])
        #expect(try read(CustomStep("acme.denoise")) == [.custom(CustomStep("acme.denoise"))])
    }

    /// Admission checks whether values are meaningful; decoding checks whether they are bounded.
    @Test(
        arguments: [
            (CustomStep("denoise"), "NamedStep.name", .unknownValue),
            (CustomStep(""), "NamedStep.name", .unknownValue),
            (
                CustomStep("a." + String(repeating: "b", count: 127)), "NamedStep.name",
                .tooLong(limit: 128)
            ),
            (
                CustomStep("a.b", parameters: [String(repeating: "k", count: 129): ""]),
                "Detail.name", .tooLong(limit: 128)
            ),
            (
                CustomStep("a.b", parameters: ["k": String(repeating: "v", count: 257)]),
                "Detail.value", .tooLong(limit: 256)
            ),
            (
                CustomStep(
                    "a.b",
                    parameters: Dictionary(
                        uniqueKeysWithValues: (0..<17).map { ("\($0)", "") })),
                "NamedStep.parameters", .tooMany(limit: 16)
            ),
        ] as [(CustomStep, String, FieldError.Problem)])
    func whatIsNoStepIsRefused(step: CustomStep, field: String, problem: FieldError.Problem) {
        let error = #expect(throws: WireError.self) { try read(step) }
        let fault = FieldError(field: field, problem: problem)
        #expect(error == .field(fault, token: Self.token))
    }

    private static func detail(_ name: String, _ value: String) -> ProtobufBytes {
        ProtobufBytes().text(1, name).text(2, value)
    }

    /// Decodes a load with a step given in wire format.
    private func steps(_ step: ProtobufBytes) throws -> [TransformStep]? {
        let image = ProtobufBytes().text(1, "http://h/a.jpg")
            .message(4, ProtobufBytes().message(6, step))
        let body = ProtobufBytes().bytes(1, Self.tokenBytes).message(3, image)
        let frames = Frames(header: FrameHeader(kind: .load).bytes, body: body.bytes)
        guard case .load(let load) = try frames.clientMessage() else { return nil }
        return load.image.steps
    }

    @Test func aStepOfThisProtocolGoesAcrossByItsName() throws {
        let steps: [TransformStep] = [
            .grayscale, .blur(radius: 0.1), .pad(PixelSize(width: 3, height: 4), .center, .white),
            .cropTo(RelativeSize(width: .percent(33.3), height: .pixels(2)), .attention),
        ]
        var image = ImageRequest(url: "http://h/a.jpg")
        image.steps = steps
        let load = LoadRequest(token: try #require(Self.token), image: image)
        guard case .load(let back) = try Frames(.load(load)).clientMessage() else { return }
        #expect(back.image.steps == steps)
        let blur = ProtobufBytes().text(1, "blur")
        #expect(try self.steps(blur.message(2, Self.detail("radius", "7"))) == [.blur(radius: 7)])
        for wrong in [blur, blur.message(2, Self.detail("radius", "soft"))] {
            let fault = FieldError(field: "NamedStep.name", problem: .unknownValue)
            #expect(throws: WireError.field(fault, token: Self.token)) { try self.steps(wrong) }
        }
    }

    @Test func whatOthersWriteIsReadByTheSameRules() throws {
        let named = ProtobufBytes().text(1, "acme.denoise")
        let parameters = ["b": "2", "a": "1"]
        #expect(
            try steps(
                named.message(2, Self.detail("b", "2")).message(2, Self.detail("a", "1")))
                == [.custom(CustomStep("acme.denoise", parameters: parameters))])
        let refused: [(ProtobufBytes, FieldError)] = [
            (
                named.message(2, Self.detail("a", "1")).message(2, Self.detail("a", "2")),
                FieldError(field: "NamedStep.parameters", problem: .duplicate)
            ),
            (
                ProtobufBytes().text(1, "sharper-than-this-version"),
                FieldError(field: "NamedStep.name", problem: .unknownValue)
            ),
            (ProtobufBytes(), FieldError(field: "NamedStep.name", problem: .unknownValue)),
            (
                ProtobufBytes().text(1, "a." + String(repeating: "b", count: 127)),
                FieldError(field: "NamedStep.name", problem: .tooLong(limit: 128))
            ),
        ]
        for (step, fault) in refused {
            #expect(throws: WireError.field(fault, token: Self.token)) { try steps(step) }
        }
    }
}
