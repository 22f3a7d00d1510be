import Testing

@testable import Model

extension Configuration {
    /// A configuration whose default profile has these rules.
    init(rules: [Rule]) {
        self.init()
        usual.rules = rules
    }

    /// The default profile.
    var usual: Profile {
        get { profiles["default"] ?? Profile() }
        set { profiles["default"] = newValue }
    }

    /// The error of a request that is not resolved.
    func error(_ request: ImageRequest) -> ImageError? {
        do throws(ImageError) {
            _ = try resolve(request)
            return nil
        } catch {
            return error
        }
    }
}

extension Rule {
    init(
        matching pattern: String, _ change: (inout Rule) throws -> Void = { _ in }
    ) throws {
        self.init(try #require(URLPattern(pattern)))
        try change(&self)
    }
}

extension LoadTerms {
    /// The request for the fallback if that is another URL.
    var fallbackRequest: ImageRequest? {
        guard case .load(let request) = fallback else { return nil }
        return request
    }
}
