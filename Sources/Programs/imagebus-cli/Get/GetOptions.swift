import ImageModel

/// What `get` was told.
struct GetOptions: Hashable {
    var request: ImageRequest
    var target = OutputTarget.none
    var printsJSON: Bool
    var progress: ProgressMode
    var stack: StackOptions

    /// Where the image goes.
    enum OutputTarget: Hashable {
        case none
        case file(String)
        case standardOutput
    }

    /// When progress is shown.
    enum ProgressMode: Hashable {
        /// On a terminal.
        case auto
        case bar
        case none
    }

    init(_ read: ReadOptions, environment: [String: String]) throws(UsageError) {
        guard let url = read.operands.first else { throw UsageError("there is no URL") }
        guard read.operands.count == 1 else {
            throw UsageError("there is more than one URL: '\(read.operands[1])'")
        }
        guard url != "-" else {
            throw UsageError("an image from standard input is not in this version")
        }
        request = try RequestReader.request(read, url: url)
        printsJSON = read.isSet("json")
        progress =
            try read.parsed("progress") { (text) throws(UsageError) in
                try OptionValue.word(text, [("auto", .auto), ("bar", .bar), ("none", .none)])
            } ?? .auto
        stack = try StackOptions(read, environment: environment)
        if let output = read.last("output") {
            guard !output.isEmpty else { throw UsageError("--output: a file name is not empty") }
            guard !request.infoOnly else {
                throw UsageError("--info brings no image: leave out -o")
            }
            target = output == "-" ? .standardOutput : .file(output)
        }
    }
}
