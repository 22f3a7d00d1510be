import ImageModel
import Imagebus
import Linux

/// What a load is told on its command line.
struct LoadSettings: Sendable {
    /// URLs begin with it; a number and `.jpg` follow.
    var urlPrefix = ""
    /// The stack.
    var runtimeDirectory = "/run/imagebus"
    /// Loads at a time.
    var inFlight = 64
    /// For how long; SIGTERM ends it before.
    var seconds = 10
    /// How many of a hundred loads are of URLs that were never loaded.
    var newPercent = 25
    /// Milliseconds for which a load waits for a coordinator.
    var connectTimeout = 5_000

    private static let names = [
        "url-prefix", "runtime-dir", "in-flight", "seconds", "new-percent", "connect-timeout",
    ]

    /// What is wrong with the words, for people.
    struct Refusal: Error {
        let text: String
    }

    init(_ words: [String]) throws(Refusal) {
        let known = Self.names.map { ScannedOption(name: $0, takesValue: true) }
        do throws(OptionScanner.Failure) {
            for item in try OptionScanner.scan(words, for: known) {
                if case .option(let index, let value) = item { take(Self.names[index], value) }
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

    private mutating func take(_ name: String, _ value: String) {
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

    /// Where the client connects.
    func client() throws(ImageError) -> ClientConfiguration {
        do {
            var configuration = try ClientConfiguration(
                runtimeDirectory: runtimeDirectory, connectTimeoutMilliseconds: connectTimeout)
            // What is counted are the requests of the stack.
            configuration.sharesLoads = false
            return configuration
        } catch {
            throw ImageError(.invalidRequest, "\(error)")
        }
    }
}
