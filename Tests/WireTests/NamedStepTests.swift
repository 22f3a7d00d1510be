import Model
import Testing

@testable import Wire

/// Steps without a message of their own, as any client may encode them.
@Suite struct NamedStepTests {
    private static let tokenBytes = (1...16).map { UInt8($0) }
    private static let token = Identifier128(bytes: tokenBytes).map { Token($0) }

    private func read(_ steps: [TransformStep]) throws -> [TransformStep]? {
        var image = ImageRequest(url: "http://h/a.jpg")
        image.steps = steps
        let load = LoadRequest(token: try #require(Self.token), image: image)
        guard case .load(let back) = try Frames(.load(load)).clientMessage() else { return nil }
        return back.image.steps
    }

    @Test func aCustomStepGoesAcross() throws {
        for parameters in [[:], ["strength": "0.5", "passes": "2"]] {
            let steps = [TransformStep.custom(CustomStep("acme.denoise", parameters: parameters))]
            #expect(try read(steps) == steps)
        }
    }

    private func isRefused(
        _ step: ProtobufBytes, _ field: String, _ problem: FieldError.Problem
    ) {
        let fault = FieldError(field: field, problem: problem)
        #expect(throws: WireError.field(fault, token: Self.token)) { try steps(step) }
    }

    /// Admission checks whether values are meaningful; coding checks whether they are bounded.
    @Test(
        arguments: [
            ("denoise", [:], "NamedStep.name", .unknownValue),
            ("", [:], "NamedStep.name", .unknownValue),
            ("a." + long(127), [:], "NamedStep.name", .tooLong(limit: 128)),
            ("a.b", [long(129): ""], "Detail.name", .tooLong(limit: 128)),
            ("a.b", ["k": long(257)], "Detail.value", .tooLong(limit: 256)),
            (
                "a.b", Dictionary(uniqueKeysWithValues: (0..<17).map { ("\($0)", "") }),
                "NamedStep.parameters", .tooMany(limit: 16)
            ),
        ] as [(String, [String: String], String, FieldError.Problem)])
    func whatIsNoStepIsRefused(
        name: String, parameters: [String: String], field: String, problem: FieldError.Problem
    ) {
        let fault = FieldError(field: field, problem: problem)
        #expect(throws: WireError.field(fault, token: Self.token)) {
            try read([.custom(CustomStep(name, parameters: parameters))])
        }
        let named = parameters.sorted { $0 < $1 }.reduce(ProtobufBytes.none.text(1, name)) {
            $0.message(2, Self.detail($1.key, $1.value))
        }
        isRefused(named, field, problem)
    }

    private static func detail(_ name: String, _ value: String) -> ProtobufBytes {
        ProtobufBytes.none.text(1, name).text(2, value)
    }

    /// Decodes a load with a step given in wire format.
    private func steps(_ step: ProtobufBytes) throws -> [TransformStep]? {
        let image = ProtobufBytes.none.text(1, "http://h/a.jpg").message(4, .none.message(6, step))
        let body = ProtobufBytes.none.bytes(1, Self.tokenBytes).message(3, image)
        guard case .load(let load) = try Frames(.load, body).clientMessage() else { return nil }
        return load.image.steps
    }

    @Test func aStepOfThisProtocolGoesAcrossByItsName() throws {
        let steps: [TransformStep] = [
            .grayscale, .blur(radius: 0.1), .sharpen(radius: 0.1, amount: 1e-3),
            .modulate(saturation: 1 / 3), .monochrome(.white, intensity: 0.1),
            .colorMatrix(.duotone(dark: Color(argb: 0xFF10_2030), light: .white, intensity: 0.7)),
            .pad(PixelSize(width: 3, height: 4), .center, .white),
            .cropTo(RelativeSize(width: .percent(33.3), height: .pixels(2)), .attention),
        ]
        #expect(try read(steps) == steps)
        let blur = ProtobufBytes.none.text(1, "blur")
        #expect(try self.steps(blur.message(2, Self.detail("radius", "7"))) == [.blur(radius: 7)])
        for wrong in [blur, blur.message(2, Self.detail("radius", "soft"))] {
            isRefused(wrong, "NamedStep.name", .unknownValue)
        }
    }

    @Test func whatOthersWriteIsReadByTheSameRules() throws {
        let named = ProtobufBytes.none.text(1, "acme.denoise")
        let parameters = ["b": "2", "a": "1"]
        #expect(
            try steps(
                named.message(2, Self.detail("b", "2")).message(2, Self.detail("a", "1")))
                == [.custom(CustomStep("acme.denoise", parameters: parameters))])
        isRefused(
            named.message(2, Self.detail("a", "1")).message(2, Self.detail("a", "2")),
            "NamedStep.parameters", .duplicate)
        isRefused(.none.text(1, "sharper-than-this-version"), "NamedStep.name", .unknownValue)
        isRefused(.none, "NamedStep.name", .unknownValue)
    }
}
