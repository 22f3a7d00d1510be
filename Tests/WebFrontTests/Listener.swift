import Model
import Testing
import WebGrammar

@testable import WebFront

extension ImgproxyGrammar {
    /// A grammar that accepts unsigned paths.
    static func unsigned(
        _ change: (inout Settings) throws -> Void = { _ in }
    ) throws -> ImgproxyGrammar {
        var settings = Settings()
        settings.permitsUnsigned = true
        try change(&settings)
        return try ImgproxyGrammar(settings)
    }
}

extension ThumborGrammar {
    /// A grammar that accepts unsigned paths.
    static func unsigned() throws -> ThumborGrammar {
        var settings = Settings()
        settings.permitsUnsigned = true
        return try ThumborGrammar(settings)
    }
}

extension WeservGrammar {
    /// A grammar that accepts its URLs.
    static func unsigned() -> WeservGrammar {
        var settings = Settings()
        settings.permitsUnsigned = true
        return WeservGrammar(settings)
    }
}

extension WebFrontSettings {
    /// The settings of a listener for unsigned paths of imgproxy.
    static func unsigned(
        _ change: (inout WebFrontSettings) throws -> Void = { _ in }
    ) throws -> WebFrontSettings {
        var settings = WebFrontSettings(grammar: try ImgproxyGrammar.unsigned())
        settings.infoGrammar = settings.grammar
        try change(&settings)
        return settings
    }

    /// The verdict on a request.
    func verdict(
        on target: String, method: String = "GET", _ fields: [String: String] = [:]
    ) -> Verdict {
        RequestReader(self).verdict(on: IncomingRequest(method, target) { fields[$0] }, now: 1_000)
    }
}

extension Verdict {
    var plan: RequestPlan? { if case .load(let plan) = self { plan } else { nil } }
    var answer: Answer? { if case .answer(let answer) = self { answer } else { nil } }
}

extension NextStep {
    var plan: RequestPlan? { if case .load(let plan) = self { plan } else { nil } }
    var image: Answer? { if case .image(let answer) = self { answer } else { nil } }
    var text: Answer? { if case .text(let answer) = self { answer } else { nil } }
}

extension Answer {
    func field(_ name: String) -> String? { fields[name] }

    /// The body as text.
    var words: String { String(decoding: body, as: UTF8.self) }
}
