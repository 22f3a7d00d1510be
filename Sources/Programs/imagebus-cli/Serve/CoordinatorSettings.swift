import CommandLineInterface
import ImageModel

/// What `serve` hands on to its coordinator as it was said: checked here, so that a mistake is a
/// usage error and no process that does not start.
struct CoordinatorSettings: Hashable {
    /// For the coordinator, in the order of `numbers`.
    private(set) var arguments: [String] = []

    /// Numbers, and how large they may be.
    private static let numbers: [(name: String, range: ClosedRange<Int>)] = [
        ("blacklist-seconds", 0...366 * 86_400),
        ("blacklist-entries", 0...1_000_000),
        ("fetch-retries", 0...10),
        ("fetches-per-host", 0...65_536),
        ("queue-limit", 1...1_000_000),
        ("connections-per-process", 1...8_192),
        ("vouchers", 0...1_048_576),
    ]

    init() {}

    init(_ read: ReadOptions) throws(UsageError) {
        for (name, range) in Self.numbers {
            let number = try read.parsed(name) { (text) throws(UsageError) in
                try OptionValue.integer(text, in: range)
            }
            if let number { arguments += ["--\(name)", "\(number)"] }
        }
        for setting in LimitSetting.allCases {
            let limit = try read.parsed(setting.rawValue, as: setting.expected) {
                setting.value(of: $0)
            }
            if let limit { arguments += ["--\(setting.rawValue)", "\(limit)"] }
        }
        let order = try read.parsed("fetch-order") { (text) throws(UsageError) in
            try OptionValue.word(text, [("fifo", text), ("lifo", text)])
        }
        if let order { arguments += ["--fetch-order", order] }
        let root = try read.parsed("local-root") { (text) throws(UsageError) in
            let path = try OptionValue.path(text)
            guard FileRoot.isPath(path) else {
                throw UsageError(
                    "'\(text)' is not the path of a directory: it has at most "
                        + "\(FileRoot.bytesMax) bytes, and no '.' or '..'")
            }
            return path
        }
        if let root { arguments += ["--local-root", root] }
    }

    /// What the help says of the limits of images.
    static let limits: [OptionDefinition] = [
        OptionDefinition(
            LimitSetting.pixels.rawValue, value: "N",
            "pixels of what is decoded of an image, such as 50M (100M); a\n"
                + "profile or rule of --config may make this and the next four\n"
                + "limits narrower"),
        OptionDefinition(
            LimitSetting.side.rawValue, value: "N", "columns or rows of it (32767)"),
        OptionDefinition(
            LimitSetting.body.rawValue, value: "BYTES",
            "of an image as it is fetched or uploaded (64M)"),
        OptionDefinition(
            LimitSetting.pages.rawValue, value: "N", "pages or frames of a file (10000)"),
        OptionDefinition(
            LimitSetting.metadata.rawValue, value: "BYTES",
            "of profile, EXIF, XMP and other texts of a file (16M)"),
    ]

    /// What the help says of them.
    static let definitions: [OptionDefinition] = [
        OptionDefinition(
            "fetch-retries", value: "N",
            "further attempts of a download that failed temporarily (2)"),
        OptionDefinition(
            "fetches-per-host", value: "N",
            "downloads of one host at a time (64; 0 without a limit)"),
        OptionDefinition(
            "fetch-order", value: "ORDER", of: .words(["fifo", "lifo"]),
            "fifo, or lifo: the newest first"),
        OptionDefinition(
            "blacklist-seconds", value: "N",
            "for which a URL that failed for good is refused (600; 0 for ever)"),
        OptionDefinition(
            "blacklist-entries", value: "N",
            "of them, the oldest makes room (10000; 0 none)"),
        OptionDefinition(
            "queue-limit", value: "N",
            "jobs that wait for one kind of worker; one more is busy (16384)"),
        OptionDefinition(
            "connections-per-process", value: "N",
            "clients that one process may have; one more is busy (64)"),
        OptionDefinition(
            "vouchers", value: "N",
            "answers that clients may repeat without asking (131072; 0 none)"),
    ]
}
