import CommandLineInterface
import ImageModel
import StackAccess

/// What `imagebus prefetch` was told.
struct PrefetchOptions: Hashable {
    /// How each URL is loaded; its own URL is empty.
    var template: ImageRequest
    /// The class of all of them.
    var priority: Priority
    var urls: [String]
    /// Where further URLs are; `-` is standard input.
    var file: String?
    var concurrency: Int
    var printsJSON: Bool
    var progress: GetOptions.ProgressMode
    var stack: StackOptions

    init(_ read: ReadOptions, environment: [String: String]) throws(UsageError) {
        urls = read.operands
        file = read.last("file")
        guard !urls.isEmpty || file != nil else {
            throw UsageError("there is no URL, and no -f with a list")
        }
        template = try RequestReader.request(read, url: "")
        priority = try Self.priority(read, template.options)
        concurrency =
            try read.parsed("concurrent") { text throws(UsageError) in
                try OptionValue.integer(text, in: 1...RequestLimits.prefetchConcurrencyMax)
            } ?? RequestLimits.prefetchConcurrency
        printsJSON = read.isSet("json")
        progress = try GetOptions.progress(read)
        stack = try StackOptions(read, environment: environment)
    }

    /// Low, unless `--priority` or an option says otherwise.
    private static func priority(
        _ read: ReadOptions, _ options: RequestOptions
    ) throws(UsageError) -> Priority {
        if options.contains(.highPriority) { return .high }
        return read.isSet("priority") && !options.contains(.lowPriority) ? .normal : .low
    }
}
