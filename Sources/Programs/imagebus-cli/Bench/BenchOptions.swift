/// What `bench` was told.
struct BenchOptions: Hashable {
    /// The picture; nil for those that the command serves by itself.
    var url: String?
    /// For each kind of work.
    var seconds: Int
    /// Loads at a time.
    var concurrency: Int
    var printsJSON: Bool
    var stack: StackOptions

    private static let later = ["hit", "cold", "storm", "mixed"]

    init(_ read: ReadOptions, environment: [String: String]) throws(UsageError) {
        guard let kind = read.operands.first else {
            throw UsageError("what is measured? This version measures: cancel")
        }
        guard kind == "cancel" else {
            throw UsageError(
                Self.later.contains(kind)
                    ? "'\(kind)' is not in this version"
                    : "'\(kind)' cannot be measured: cancel can")
        }
        guard read.operands.count <= 2 else {
            throw UsageError("there is more than one URL: '\(read.operands[2])'")
        }
        url = read.operands.count == 2 ? read.operands[1] : nil
        seconds =
            try read.parsed("seconds") { (text) throws(UsageError) in
                try OptionValue.integer(text, in: 1...3_600)
            } ?? 10
        concurrency =
            try read.parsed("concurrency") { (text) throws(UsageError) in
                try OptionValue.integer(text, in: 1...64)
            } ?? 1
        printsJSON = read.isSet("json")
        stack = try StackOptions(read, environment: environment)
        // What is measured is not kept.
        stack.cacheDirectory = nil
    }
}
