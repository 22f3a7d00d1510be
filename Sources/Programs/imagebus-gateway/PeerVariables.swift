import Bootstrap
import Linux
import Messages

/// What variables of other servers say of a gateway that is started by itself.
struct PeerVariables {
    /// Arguments that stand before those of the command line, which win.
    private(set) var arguments: [String] = []
    let keyLines: [String]

    /// Throws for a variable that is not supported, and for one of another process of the stack.
    init(_ words: [String], environment: [String: String]) throws(ConfigurationError) {
        let place = words.lastIndex(of: "--grammar").map { $0 + 1 }
        let grammar = place.flatMap { words.indices.contains($0) ? words[$0] : nil }
        let translation: PeerSettings.Translation
        do throws(PeerSettings.Fault) {
            translation = try PeerSettings.translate(environment, grammar: grammar ?? "imgproxy")
        } catch {
            throw ConfigurationError("\(error)")
        }
        keyLines = translation.keyLines
        for entry in translation.entries { try take(entry) }
    }

    private mutating func take(
        _ entry: PeerSettings.Translation.Entry
    ) throws(ConfigurationError) {
        let name = entry.option.name
        let own: String? =
            switch name {
            case "gateway": "listen"
            case "log-level", "log-format": name
            case _ where name.hasPrefix("gateway-"): String(name.dropFirst("gateway-".count))
            default: nil
            }
        guard let own else {
            throw ConfigurationError(
                "\(entry.variable): it is --\(name) of `imagebus serve`, which runs the stack: set "
                    + "it there, and remove the variable here")
        }
        let isFlag = entry.option.value.isEmpty
        arguments += ["--\(own)"] + (isFlag ? [] : [entry.option.value])
    }
}
