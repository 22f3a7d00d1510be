import CommandLineInterface
import ImageModel
import Imagebus
import Messages
import Observability
import Reporting
import StackAccess

/// What `get` and `animate` say at their end, to people or as JSON.
struct GetReport {
    /// The name of the command.
    let command: String
    let request: ImageRequest
    let target: GetOptions.OutputTarget
    let printsJSON: Bool
    /// What was shown before the end.
    var partials: PartialFiles?

    init(
        _ command: String, _ request: ImageRequest, writingTo target: GetOptions.OutputTarget,
        printsJSON: Bool
    ) {
        (self.command, self.request, self.target) = (command, request, target)
        self.printsJSON = printsJSON
    }

    init(options: GetOptions) {
        self.init(
            "get", options.request, writingTo: options.target, printsJSON: options.printsJSON)
    }

    /// The status of a miss where an image was to be written, as grep has it for what is not there.
    private static let missStatus: Int32 = 1

    /// The image was written where it was to be, or there is none.
    func tell(_ image: ImageResponse, token: String) -> Int32 {
        let isNotWritten = image.isMiss && target != .none
        let status = isNotWritten ? Self.missStatus : 0
        if printsJSON {
            return tell(
                GetAnswer(
                    image, token: token, request: request, partials: partials?.written),
                status)
        }
        if isNotWritten {
            Terminal.complain(
                command,
                "\(Self.miss(image)): nothing was written; without --option "
                    + "from-cache-only it is loaded from its origin")
            return status
        }
        if let failure = image.fallbackFor {
            Terminal.complain(command, "this is the fallback: \(Self.text(failure))")
        }
        for note in ImageNotes.of(image, for: request) {
            Terminal.complain(command, note)
        }
        if target == .standardOutput { Terminal.error(Self.explanation(image)) }
        return tell(summary(image), status)
    }

    func tell(_ failure: ImageError, token: String?, totalMilliseconds: Double) -> Int32 {
        if printsJSON {
            return tell(
                GetAnswer(failure, token: token, totalMilliseconds: totalMilliseconds),
                failure.exitStatus)
        }
        Terminal.complain(command, of: failure, text: Self.text(failure))
        return failure.exitStatus
    }

    /// The refresh failed; the cached image was written.
    func tell(_ failure: ImageError, keeping image: ImageResponse, token: String) -> Int32 {
        if printsJSON {
            let answer = GetAnswer(
                image, token: token, request: request, failure: .init(failure))
            return tell(answer, failure.exitStatus)
        }
        Terminal.complain(
            command, of: failure, text: "the cached image could not be refreshed: \(failure)")
        return tell(summary(image), failure.exitStatus)
    }

    /// The image, which may have come, cannot be written.
    func tell(_ failure: OutputError, of image: ImageResponse? = nil, token: String? = nil) -> Int32
    {
        guard !failure.isUnread else { return failure.exitStatus }
        guard printsJSON else {
            Terminal.complain(command, failure)
            return failure.exitStatus
        }
        let fault = GetAnswer.Failure(failure)
        guard let image, let token else { return tell(GetAnswer(fault), failure.exitStatus) }
        let answer = GetAnswer(image, token: token, request: request, failure: fault)
        return tell(answer, failure.exitStatus)
    }

    private func tell(_ answer: GetAnswer, _ status: Int32) -> Int32 {
        // Only a number that JSON does not have fails, and those are milliseconds of a clock.
        guard let text = try? JSONText.text(answer) else {
            Terminal.complain(command, "the answer cannot be written as JSON")
            return status
        }
        guard target == .standardOutput else {
            return Terminal.finish(command, text, status: status)
        }
        Terminal.error(text)
        return status
    }

    /// Words go where the image does not.
    private func tell(_ summary: String, _ status: Int32) -> Int32 {
        guard target != .standardOutput else { return status }
        return Terminal.finish(command, summary, status: status)
    }

    private static func miss(_ image: ImageResponse) -> String { "miss: no cache has \(image.key)" }

    private static func text(_ failure: ImageError) -> String {
        let details = failure.details.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }
        return "\(failure)\(details.joined())"
    }

    /// Where it came from. One that was made of a cached original was in no cache itself.
    private static func way(of image: ImageResponse) -> String {
        guard image.cacheType != .none else { return "loaded" }
        let isMade = image.timings.transform > 0
        return isMade
            ? "made of the original from \(image.cacheType.name)" : "from \(image.cacheType.name)"
    }

    private func summary(_ image: ImageResponse) -> String {
        guard !image.isMiss else {
            return PlainText.line(Self.miss(image)) + "\n"
        }
        var parts: [String] = []
        if let info = image.info {
            parts.append("\(info.format.name) \(info.size)")
            if info.pages > 1 {
                parts.append("\(info.pages) \(info.format.holdsFrames ? "frames" : "pages")")
            }
        }
        if let count = image.bytes?.count { parts.append(ByteText.text(UInt64(count))) }
        parts.append(Self.way(of: image))
        if let count = partials?.written.files.count {
            parts.append("\(count) partial image\(count == 1 ? "" : "s")")
        }
        parts.append("\(Int(image.timings.total.rounded())) ms")
        let text = parts.joined(separator: ", ")
        let explanation = Self.explanation(image)
        if case .file(let path) = target {
            return "\(PlainText.line(path)): \(text)\n\(explanation)"
        }
        // Who made the file wrote some of the facts.
        let facts = image.facts.map { FactsAnswer($0).lines.map(PlainText.line) } ?? []
        return ([text] + facts).map { "\($0)\n" }.joined() + explanation
    }

    /// Lines; empty where nobody asked.
    private static func explanation(_ image: ImageResponse) -> String {
        var lines = image.explanation.map { ExplanationAnswer($0, image).lines } ?? []
        if !lines.isEmpty, let validity = image.validity {
            lines.append(FreshnessAnswer(validity).line)
        }
        return lines.map { PlainText.line($0) + "\n" }.joined()
    }
}
