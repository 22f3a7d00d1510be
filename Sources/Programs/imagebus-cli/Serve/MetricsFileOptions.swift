import CommandLineInterface

/// Where `serve` keeps its figures, and how often it writes them.
struct MetricsFileOptions: Hashable {
    var path: String
    var seconds: Int

    private static let secondsDefault = 15
    private static let secondsMax = 3_600

    /// nil where no file is named.
    init?(_ read: ReadOptions) throws(UsageError) {
        seconds =
            try read.parsed("metrics-seconds") { (text) throws(UsageError) in
                try OptionValue.integer(text, in: 1...Self.secondsMax)
            } ?? Self.secondsDefault
        guard let path = try read.parsed("metrics-file", OptionValue.path) else { return nil }
        guard !path.hasSuffix("/") else {
            throw UsageError("--metrics-file: '\(path)' is a directory")
        }
        self.path = path
    }
}
