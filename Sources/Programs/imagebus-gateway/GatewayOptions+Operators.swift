import Bootstrap
import Messages
import WebFront
import WebGrammar

// Who may send images, and who is an operator.
extension GatewayOptions {
    /// Whose `no-cache` counts, and who may have entries removed.
    mutating func takeOperators(_ arguments: ProgramArguments) throws(ConfigurationError) {
        operatorPlace = arguments.value("operator-listen").flatMap { ListenPlace($0) }
        guard let tokens = try Self.tokens(.operatorTokens, arguments) else {
            guard operatorPlace == nil else {
                throw ConfigurationError(
                    "--operator-listen needs --operator-tokens FILE, which says who may remove "
                        + "entries")
            }
            return
        }
        front.operators = tokens
        guard operatorPlace != nil else { return }
        var settings = OperatorSettings(tokens, try grammar(for: .removals))
        settings.pathPrefix = front.pathPrefix
        operators = settings
    }

    /// The tokens of a file that a setting names; nil: it was not given.
    static func tokens(
        _ setting: GatewaySetting, _ arguments: ProgramArguments
    ) throws(ConfigurationError) -> BearerTokens? {
        guard let path = arguments.value(setting.rawValue) else { return nil }
        do throws(GrammarError) {
            if let tokens = BearerTokens(file: try bytes(path)) { return tokens }
        } catch {
            throw ConfigurationError("--\(setting.rawValue): \(error.message)")
        }
        throw ConfigurationError(
            "--\(setting.rawValue): \(path) does not have \(BearerTokens.expected)")
    }
}
