import CommandLineInterface
import Imagebus
import Model
import Reporting

extension Command {
    static let prefetch = Command(
        name: "prefetch",
        summary: "load images into the caches",
        usage: "[URL…] [-f FILE|-] [options]",
        options: [
            ("input and output", listOptions + sharedOutputOptions),
            ("encoding", settingOptions),
            ("steps, in the order given", stepOptions),
            ("loading", prefetchLoadOptions),
            ("stack", stackOptions), ("", laterOptions),
        ],
        notes: """
            prefetch prints only counts. The images are stored in the caches of the stack, where get
            finds them with the same options. Other loads of the same URLs take precedence.

            The last line counts the URLs loaded, already cached and failed, with the errors. Failed
            URLs are listed with the reason, and with FILE:LINE if they come from a list: up to 100
            invalid lines first, then the first sixteen other failures, followed by suggestions. The
            exit status is 0 if no URL failed, else that of the first failure. Ctrl-C cancels the
            remaining URLs, with status 130.

            The stack is selected as for get. A private stack loses its memory tier when it stops;
            its disk tier remains.
            """,
        examples: [
            ("imagebus prefetch URL1 URL2 --resize 200x200", "two thumbnails"),
            ("imagebus prefetch -f urls.txt --concurrent 8", "a list with one URL per line"),
            (
                "sed s/x/y/ list | imagebus prefetch -f - --json",
                "a list from a pipe, with counts as JSON"
            ),
        ])

    private static let listOptions = [
        OptionDefinition(
            "file", letter: "f", value: "FILE",
            "read URLs from FILE, one per line; empty lines and lines starting "
                + "with # are skipped; - is standard input"),
        OptionDefinition(
            "concurrent", value: "N",
            "concurrent loads, 1 to \(RequestLimits.prefetchConcurrencyMax) "
                + "(\(RequestLimits.prefetchConcurrency))"),
        OptionDefinition("json", "print the counts as one JSON object"),
        progress,
    ]

    private static let sharedOutputOptions = outputOptions.filter {
        !["info", "properties"].contains($0.name)
    }

    private static let prefetchLoadOptions =
        loadOptions.filter { $0.name != "priority" } + [
            OptionDefinition(
                "priority", value: "P", of: .words(Priority.allCases.map(\.name)),
                "priority: high, normal or low (low)")
        ]
}

struct PrefetchOptions: Hashable {
    /// How each URL is loaded; its own URL is empty.
    var template: ImageRequest
    /// The priority of all loads.
    var priority: Priority
    var urls: [String]
    /// A file with further URLs; `-` for standard input.
    var file: String?
    var concurrency: Int
    var printsJSON: Bool
    var progress: GetOptions.ProgressMode
    var stack: StackOptions

    init(_ read: ReadOptions, environment: [String: String]) throws(UsageError) {
        urls = read.operands
        file = read.last("file")
        guard !urls.isEmpty || file != nil else {
            throw UsageError("no URL or -f FILE given")
        }
        template = try RequestReader.request(read, url: "")
        priority = try Self.priority(read, template.options)
        concurrency =
            try read.integer("concurrent", in: 1...RequestLimits.prefetchConcurrencyMax)
            ?? RequestLimits.prefetchConcurrency
        printsJSON = read.isSet("json")
        progress = try GetOptions.progress(read)
        stack = try StackOptions(read, environment: environment)
    }

    /// Returns the priority: low unless `--priority` or a request option specifies otherwise.
    private static func priority(
        _ read: ReadOptions, _ options: RequestOptions
    ) throws(UsageError) -> Priority {
        if options.contains(.highPriority) { return .high }
        return read.isSet("priority") && !options.contains(.lowPriority) ? .normal : .low
    }
}

/// `imagebus prefetch`: loads a list of URLs into the caches.
enum PrefetchTool {
    static func run(_ options: PrefetchOptions) throws -> Int32 {
        let interruption = try Interruption()
        let list = try options.file.map { try URLList($0, interruption) }
        let urls = options.urls + (list?.lines.map(\.url) ?? [])
        guard urls.count <= RequestLimits.prefetchMax else {
            throw ImageError(
                .limitExceeded, "at most \(RequestLimits.prefetchMax) URLs are allowed")
        }
        let stack = try OpenStack(options.stack, interruption)
        defer { stack.end(interruption) }
        let client = try stack.client(timeout: options.template.timeoutMilliseconds)
        defer { client.end() }
        return try report(try run(options, urls, client, interruption), list, options)
    }

    /// The result of a prefetch.
    private struct End {
        let summary: PrefetchSummary
        let failures: [PrefetchFailure]
        let token: String
        let isCancelled: Bool

        /// The exit status of the first failure, if any.
        var exitStatus: Int32 {
            if isCancelled { return ErrorCode.cancelled.rule.exitStatus }
            guard summary.counts.skipped > 0 else { return 0 }
            return failures.first?.error.exitStatus ?? ErrorCode.internalError.rule.exitStatus
        }
    }

    /// Waits for the result. The first Ctrl-C cancels; a second one also stops waiting.
    private static func run(
        _ options: PrefetchOptions, _ urls: [String], _ client: ImagebusClient,
        _ interruption: Interruption
    ) throws(ImageError) -> End {
        let completion = try Completion<PrefetchCounts>()
        let bar = options.progress.showsBar ? ProgressBar() : nil
        defer { bar?.end() }
        let task = client.prefetch(
            urls, template: options.template, concurrency: options.concurrency)
        if options.priority == .normal { client.reprioritize(task, .normal) }
        completion.start { () throws(ImageError) in try await task.result }
        if let bar {
            Task.detached {
                for await counts in task.progress { bar.show(ProgressBar.text(counts)) }
            }
        }
        let counts = try completion.wait(interruption, cancel: task.cancel)
        return End(
            summary: PrefetchSummary(counts: counts, ends: task.ends), failures: task.failures,
            token: task.token.value.hex, isCancelled: interruption.count > 0)
    }

    /// Prints counts and failures; returns the exit status.
    private static func report(
        _ end: End, _ list: URLList?, _ options: PrefetchOptions
    ) throws -> Int32 {
        // Invalid URLs may simply not have been reached before cancellation, so they are not
        // reported.
        let lineErrors = PrefetchLineError.all(end.isCancelled ? nil : list, end.failures)
        if options.printsJSON {
            let answer = end.summary.object(lineErrors, token: end.token)
            return Terminal.finish(
                "prefetch", try JSONText.text(answer), status: end.exitStatus)
        }
        for line in lines(lineErrors, of: end.summary.counts.skipped) {
            Terminal.complain("prefetch", line)
        }
        for line in PrefetchLineError.advice(lineErrors) {
            Terminal.complain("prefetch", "next: \(line)")
        }
        return Terminal.finish("prefetch", end.summary.text, status: end.exitStatus)
    }

    /// Returns a line for each of the first failures.
    static func lines(_ lineErrors: [PrefetchLineError], of skipped: Int) -> [String] {
        let shown = lineErrors.prefix(linesMax)
        let rest = skipped - shown.count
        return shown.map(\.line)
            + (rest > 0 ? ["and \(rest) more failed; use a shorter list"] : [])
    }

    static let linesMax = 100
}

/// The list of `prefetch -f`.
struct URLList {
    /// A URL and its line number.
    struct Line: Hashable {
        let number: Int
        let url: String
    }

    /// The file as specified.
    let file: String
    let lines: [Line]

    /// Reads a list to the end of file or until Ctrl-C: one URL per line.
    init(_ file: String, _ interruption: Interruption) throws(ImageError) {
        let bytes =
            file == "-"
            ? try StandardInput.read(interruption)
            : try InputFile.read(file, bytesMax: StandardInput.bytesMax)
        self.init(file: file, bytes)
    }

    init(file: String, _ bytes: [UInt8]) {
        self.file = file == "-" ? "standard input" : file
        lines = Self.lines(bytes)
    }

    /// Returns the first position of a URL, such as `urls.txt:3`; `nil` if it comes from the
    /// command line.
    func place(of url: String) -> String? {
        lines.first { $0.url == url }.map(place)
    }

    /// The lines that are not valid URLs, with their errors.
    var lineErrors: [PrefetchLineError] {
        lines.compactMap { line in
            do throws(ImageError) {
                _ = try SourceURL(line.url)
                return nil
            } catch {
                return PrefetchLineError(place: place(of: line), url: line.url, error: error)
            }
        }
    }

    private func place(of line: Line) -> String { "\(file):\(line.number)" }

    /// Returns the lines without empty ones and comments.
    private static func lines(_ bytes: [UInt8]) -> [Line] {
        let rows = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        return zip(1..., rows).flatMap { number, row in
            row.split(separator: 0x0D).compactMap { text in
                url(in: text).map { Line(number: number, url: $0) }
            }
        }
    }

    private static func url(in line: ArraySlice<UInt8>) -> String? {
        let text = line.drop { isSpace($0) }
        guard let first = text.first, first != UInt8(ascii: "#"),
            let last = text.lastIndex(where: { !isSpace($0) })
        else { return nil }
        return String(decoding: text[...last], as: UTF8.self)
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}

/// The result of a prefetch in human-readable form.
struct PrefetchSummary {
    let counts: PrefetchCounts
    let ends: PrefetchEnds

    /// The number of URLs that were newly loaded.
    var loaded: Int {
        max(0, counts.finished - counts.skipped - Int(clamping: ends.cached) - missed)
    }

    /// The number of URLs that no cache had, in a cache-only prefetch.
    var missed: Int { Int(clamping: ends.missed) }

    /// The summary line.
    var text: String {
        var parts = ["loaded \(loaded)", "already cached \(ends.cached)"]
        if missed > 0 { parts.append("not cached \(missed)") }
        parts.append("failed \(counts.skipped)\(errors)")
        if counts.cancelled > 0 { parts.append("cancelled \(counts.cancelled)") }
        return parts.joined(separator: ", ") + "\n"
    }

    /// The errors, most frequent first.
    private var errors: String {
        guard !ends.errors.isEmpty else { return "" }
        let sorted = ends.errors.sorted {
            ($1.count, $0.code.rawValue) < ($0.count, $1.code.rawValue)
        }
        let counted = sorted.map { "\($0.count) \($0.code.rule.name)" }
        return " (\(counted.joined(separator: ", ")))"
    }
}

/// A failed URL of a prefetch and its position in the list.
struct PrefetchLineError {
    /// `nil` if it comes from the command line.
    let place: String?
    let url: String
    let error: ImageError

    /// Returns the invalid URLs of the list, followed by the failures reported by the coordinator.
    static func all(_ list: URLList?, _ failures: [PrefetchFailure]) -> [PrefetchLineError] {
        let lineErrors = list?.lineErrors ?? []
        let bad = Set(lineErrors.map(\.url))
        return lineErrors
            + failures.filter { !bad.contains($0.url) }.map { failure in
                PrefetchLineError(
                    place: list?.place(of: failure.url), url: failure.url, error: failure.error)
            }
    }

    /// Returns what to do next, without duplicates.
    static func advice(_ lineErrors: [PrefetchLineError]) -> [String] {
        var lines: [String] = []
        for line in lineErrors.compactMap(\.error.advice) where !lines.contains(line) {
            lines.append(line)
        }
        return Array(lines.prefix(adviceMax))
    }

    private static let adviceMax = 3

    /// A line without secrets: user info and query are omitted.
    var line: String {
        let url = (try? SourceURL(url))?.forLogs ?? quoted
        let status = error.typedDetails.httpStatus.map { " (httpStatus=\($0))" } ?? ""
        return (place.map { "\($0): " } ?? "") + "\(url): \(error)\(status)"
    }

    /// The beginning of an invalid URL, omitting what could be secret in a misspelled one.
    private var quoted: String {
        let text = url.prefix { $0 != "?" && $0 != "#" }
        let bare = text.lastIndex(of: "@").map { "…\(text[$0...])" } ?? String(text)
        return "'\(bare.prefix(Self.quotedMax))\(bare.count > Self.quotedMax ? "…" : "")'"
    }

    private static let quotedMax = 80
}

extension PrefetchSummary {
    /// A URL that could not be loaded, with its error.
    private struct Failure: Encodable {
        let url: String
        /// Absent if it comes from the command line.
        let place: String?
        let error: JSONObject
    }

    /// The output of `prefetch --json`, with the first failures. The token is for `imagebus cancel`
    /// while the command is running.
    func object(_ lineErrors: [PrefetchLineError], token: String) -> JSONObject {
        let errors = Dictionary(
            ends.errors.map { ($0.code.rule.name, $0.count) }, uniquingKeysWith: { $0 &+ $1 })
        let failures = lineErrors.prefix(PrefetchTool.linesMax).map {
            Failure(url: $0.url, place: $0.place, error: GetAnswer.error($0.error))
        }
        return [
            "token": token, "total": counts.total, "finished": counts.finished,
            // Among the finished: newly loaded, already cached, and, in a cache-only prefetch,
            // missing.
            "loaded": loaded, "cached": ends.cached, "missed": ends.missed,
            // Among the finished: failed, and the number of failures by error.
            "failed": counts.skipped, "errors": errors, "cancelled": counts.cancelled,
            "failures": failures,
        ]
    }
}
