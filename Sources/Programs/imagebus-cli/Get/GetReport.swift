import ImageModel
import Messages
import Observability

/// What `get` says at its end, to people or as JSON.
struct GetReport {
    let options: GetOptions

    /// JSON goes where the image does not.
    func tell(_ answer: GetAnswer) {
        guard let text = try? JSONText.text(answer) else {
            // Only a number that JSON does not have fails, and those are milliseconds of a clock.
            Terminal.error("imagebus get: the answer cannot be written as JSON\n")
            return
        }
        if options.target == .standardOutput { Terminal.error(text) } else { Terminal.out(text) }
    }

    func tell(_ image: LoadedImage, token: String) {
        if options.printsJSON {
            return tell(GetAnswer(image, token: token, asksOrigin: asksOrigin))
        }
        if options.target != .standardOutput { Terminal.out(summary(image)) }
        if let failure = image.fallbackFor {
            Terminal.complain("get", "this is the fallback: \(Self.text(failure))")
        }
    }

    func tell(_ failure: ImageError, token: String?, totalMilliseconds: Double) {
        if options.printsJSON {
            tell(GetAnswer(failure, token: token, totalMilliseconds: totalMilliseconds))
        } else {
            Terminal.complain("get", Self.text(failure))
        }
    }

    /// The refresh failed; the cached image was written.
    func tell(_ failure: ImageError, keeping image: LoadedImage, token: String) {
        if options.printsJSON {
            tell(GetAnswer(image, token: token, asksOrigin: asksOrigin, failure: failure))
        } else {
            if options.target != .standardOutput { Terminal.out(summary(image)) }
            Terminal.complain("get", "the cached image could not be refreshed: \(failure)")
        }
    }

    private static func text(_ failure: ImageError) -> String {
        let details = failure.details.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }
        return "\(failure)\(details.joined())"
    }

    private var asksOrigin: Bool { options.request.options.contains(.refreshCached) }

    private func summary(_ image: LoadedImage) -> String {
        guard !image.isMiss else {
            return PlainText.line("miss: no cache has \(image.key)") + "\n"
        }
        var parts: [String] = []
        if let info = image.info {
            parts.append("\(info.format.name) \(info.size)")
            if info.pages > 1 { parts.append("\(info.pages) pages") }
        }
        if let count = image.byteCount { parts.append(ByteText.text(UInt64(count))) }
        parts.append(image.cacheType == .none ? "loaded" : "from \(image.cacheType.name)")
        parts.append("\(Int(image.timings.total.rounded())) ms")
        let text = parts.joined(separator: ", ")
        if case .file(let path) = options.target { return "\(PlainText.line(path)): \(text)\n" }
        return text + "\n"
    }
}
