import Imagebus
import Linux
import Model

/// Options from the command line.
struct LoadSettings: Sendable {
    /// URLs begin with this prefix, followed by a number and `.jpg`.
    var urlPrefix = ""
    /// The runtime directory of the stack.
    var runtimeDirectory = "/run/imagebus"
    /// Concurrent loads.
    var inFlight = 64
    /// The duration; SIGTERM ends it earlier.
    var seconds = 10
    /// The percentage of loads with new URLs.
    var newPercent = 25
    /// Milliseconds for which a load waits for a coordinator.
    var connectTimeout = 5_000

    private static let names = [
        "url-prefix", "runtime-dir", "in-flight", "seconds", "new-percent", "connect-timeout",
    ]

    /// An error in the arguments, as text.
    struct Refusal: Error {
        let text: String
    }

    init(_ words: [String]) throws(Refusal) {
        let known = Self.names.map { ScannedOption(name: $0, takesValue: true) }
        do throws(OptionScanner.Failure) {
            for item in try OptionScanner.scan(words, for: known) {
                if case .option(let index, let value) = item { apply(Self.names[index], value) }
            }
        } catch {
            throw Refusal(text: "\(error)")
        }
        let isSound =
            !urlPrefix.isEmpty && inFlight > 0 && seconds > 0 && (1...100).contains(newPercent)
        guard isSound else {
            throw Refusal(text: "--url-prefix is needed, numbers are positive")
        }
    }

    private mutating func apply(_ name: String, _ value: String) {
        let number = Int(value) ?? 0
        switch name {
        case "url-prefix": urlPrefix = value
        case "runtime-dir": runtimeDirectory = value
        case "in-flight": inFlight = number
        case "seconds": seconds = number
        case "new-percent": newPercent = number
        default: connectTimeout = number
        }
    }

    /// The endpoint of the client.
    func client() throws(ImageError) -> ClientConfiguration {
        do {
            var configuration = try ClientConfiguration(
                runtimeDirectory: runtimeDirectory, connectTimeoutMilliseconds: connectTimeout)
            // The tool counts the stack's requests, so loads must not be coalesced.
            configuration.sharesLoads = false
            return configuration
        } catch {
            throw ImageError(.invalidRequest, "\(error)")
        }
    }
}
