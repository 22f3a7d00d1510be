import CommandLineInterface
import Imagebus
import Linux
import Model
import ProcessRuntime
import Reporting

/// The final output of `get` and `animate`, human-readable or as JSON.
final class GetReport {
    private let command: String
    private let request: ImageRequest
    private let target: GetOptions.OutputTarget
    private let printsJSON: Bool
    private let start = MonotonicClock.now()
    /// The partial images shown before the end.
    var partials: PartialFiles?
    /// The provenance of an image that was loaded before, in another format than the written one.
    var earlier: ImageProvenance?
    /// The token of the request; `nil` if none was sent.
    var token: String?
    /// The image, once there is one to write.
    private var image: ImageResponse?

    /// The exit status of a miss if an image was to be written, as in grep if nothing is found.
    private static let missStatus: Int32 = 1

    init(
        _ command: String, _ request: ImageRequest, _ target: GetOptions.OutputTarget,
        printsJSON: Bool
    ) {
        (self.command, self.request) = (command, request)
        (self.target, self.printsJSON) = (target, printsJSON)
    }

    convenience init(_ options: GetOptions) {
        self.init("get", options.request, options.target, printsJSON: options.printsJSON)
    }

    /// The time since the command began, in milliseconds.
    var milliseconds: Double { Double(MonotonicClock.now() - start) / 1e6 }

    /// Runs a command; reports its error. Returns the exit status.
    func run(_ body: () throws -> Int32) -> Int32 {
        do {
            return try body()
        } catch let error as ImageError {
            if printsJSON {
                return write(answer(GetAnswer.error(error), after: milliseconds), error.exitStatus)
            }
            Terminal.complain(command, of: error, text: Self.text(error))
            return error.exitStatus
        } catch let error as OutputError where printsJSON && !error.isUnread {
            return write(answer(GetAnswer.error(error)), error.exitStatus)
        } catch {
            return Terminal.fail(command, error)
        }
    }

    /// Writes an image if requested, and reports it; `failure` is why it could not be refreshed.
    /// Returns the exit status.
    func write(_ image: ImageResponse, keptAfter failure: ImageError? = nil) throws -> Int32 {
        self.image = image
        try target.write(image)
        if let failure = partials?.written.failure { throw failure }
        guard let failure else { return report(image) }
        if printsJSON { return write(answer(GetAnswer.error(failure)), failure.exitStatus) }
        Terminal.complain(
            command, of: failure, text: "the cached image could not be refreshed: \(failure)")
        return write(summary(image), failure.exitStatus)
    }

    /// Reports an image that was written if requested, or a miss.
    private func report(_ image: ImageResponse) -> Int32 {
        let isNotWritten = image.isMiss && target != .none
        let status = isNotWritten ? Self.missStatus : 0
        if printsJSON { return write(answer(partials: partials?.written.object), status) }
        if isNotWritten {
            Terminal.complain(
                command,
                "\(Self.miss(image)): nothing was written; omit --option "
                    + "from-cache-only to load it from its origin")
            return status
        }
        if let failure = image.fallbackFor {
            Terminal.complain(command, "using the fallback: \(Self.text(failure))")
        }
        for note in ImageNotes.of(image, for: request) {
            Terminal.complain(command, note)
        }
        if target == .standardOutput { Terminal.error(explanation(image)) }
        return write(summary(image), status)
    }

    private func answer(
        _ failure: JSONObject? = nil, partials: JSONObject? = nil, after milliseconds: Double = 0
    ) -> JSONObject {
        var spent = StageTimings()
        spent.total = milliseconds
        let provenance = image.map { self.provenance(of: $0) } ?? ImageProvenance(.none, spent)
        return GetAnswer.object(
            image, provenance, token: token, request: request, failure: failure,
            partials: partials)
    }

    private func write(_ answer: JSONObject, _ status: Int32) -> Int32 {
        // Fails only for numbers that JSON can't represent, and these are milliseconds of a clock.
        guard let text = try? JSONText.text(answer) else {
            Terminal.complain(command, "the result cannot be encoded as JSON")
            return status
        }
        guard target == .standardOutput else {
            return Terminal.finish(command, text, status: status)
        }
        Terminal.error(text)
        return status
    }

    /// Prints a summary unless the image was written to standard output.
    private func write(_ summary: String, _ status: Int32) -> Int32 {
        guard target != .standardOutput else { return status }
        return Terminal.finish(command, summary, status: status)
    }

    private static func miss(_ image: ImageResponse) -> String { "not cached: \(image.key)" }

    private static func text(_ failure: ImageError) -> String {
        guard !failure.details.isEmpty else { return "\(failure)" }
        let details = failure.details.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        return "\(failure) (\(details.joined(separator: ", ")))"
    }

    private func provenance(of image: ImageResponse) -> ImageProvenance {
        ImageProvenance(of: image, after: earlier)
    }

    private func summary(_ image: ImageResponse) -> String {
        guard !image.isMiss else {
            return PlainText.line(Self.miss(image)) + "\n"
        }
        let provenance = provenance(of: image)
        var parts: [String] = []
        if let info = image.info {
            parts.append("\(info.format.name) \(info.size)")
            if info.pages > 1 {
                parts.append("\(info.pages) \(info.format.holdsFrames ? "frames" : "pages")")
            }
        }
        if let count = image.bytes?.count { parts.append(ByteText.text(UInt64(count))) }
        parts.append(provenance.text)
        if let count = partials?.written.files.count {
            parts.append("\(count) partial image\(count == 1 ? "" : "s")")
        }
        parts.append("\(Int(provenance.timings.total.rounded())) ms")
        let text = parts.joined(separator: ", ")
        let explanation = explanation(image)
        if case .file(let path) = target {
            return "\(PlainText.line(path)): \(text)\n\(explanation)"
        }
        // Some properties come from the file and are therefore untrusted.
        let properties =
            image.properties.map { PropertiesAnswer.lines($0).map(PlainText.line) } ?? []
        return ([text] + properties).map { "\($0)\n" }.joined() + explanation
    }

    /// Returns the explanation as lines; empty if not requested.
    private func explanation(_ image: ImageResponse) -> String {
        let provenance = provenance(of: image)
        var lines = ExplanationAnswer(image, provenance)?.lines ?? []
        if !lines.isEmpty, let validity = image.validity {
            lines.append(FreshnessAnswer(validity).line)
        }
        return lines.map { PlainText.line($0) + "\n" }.joined()
    }
}

/// Notes about a successfully loaded image.
enum ImageNotes {
    static func of(_ image: ImageResponse, for request: ImageRequest) -> [String] {
        let stale = image.validity?.originFailure.map {
            ["stale: revalidation failed: \($0)"]
        }
        let damaged = image.isDamaged ? ["damaged: the source has missing pixels"] : []
        return (stale ?? []) + damaged + of(image.info, for: request)
    }

    static func of(_ info: ImageInfo?, for request: ImageRequest) -> [String] {
        guard let info else { return [] }
        let stills = info.stillOf.map { ["still: one of \($0) frames"] } ?? []
        return stills + overlays(of: info.size, for: request) + unused(request)
            + settingsWithoutEffect(on: info.format, for: request)
    }

    /// Returns encoder options that have no effect because the request doesn't encode anything. A
    /// profile may add options.
    private static func unused(_ request: ImageRequest) -> [String] {
        let context = request.context
        guard let name = context.encodeOptions.map({ _ in ContextKey.imageEncodeOptions.rawValue }),
            request.isPlain, context.preset == nil, context.profile == nil
        else { return [] }
        return [
            "\(name) has no effect without encoding: pass a step, or a format with "
                + "--format or the extension of -o"
        ]
    }

    /// Returns settings that the result's format doesn't support and that were ignored because no
    /// format was specified.
    private static func settingsWithoutEffect(
        on format: ImageFormat, for request: ImageRequest
    ) -> [String] {
        guard !request.infoOnly else { return [] }
        return request.output.explicitSettings.map(\.setting).filter {
            !$0.row.formats.contains(format)
        }.map {
            "\($0.optionName) has no effect on \(format.name), only on "
                + $0.row.formats.map(\.name).joined(separator: ", ")
        }
    }

    private static func overlays(of size: PixelSize, for request: ImageRequest) -> [String] {
        overlaysThatEndUp(in: request.steps).filter { isOutside($0, size) }.map {
            "the overlay at \($0.x),\($0.y) lies outside the image of \(size) and is not "
                + "visible"
        }
    }

    /// Returns the overlays that no later step resizes or moves.
    private static func overlaysThatEndUp(in steps: [TransformStep]) -> [Overlay] {
        var overlays: [Overlay] = []
        for step in steps.reversed() {
            guard case .overlay(let overlay) = step else { break }
            overlays.insert(overlay, at: 0)
        }
        return overlays
    }

    /// Whether an overlay is entirely outside the image, whatever its size: it begins beyond the
    /// right or bottom edge, or ends before the left or top edge if positioned from the opposite
    /// ones.
    private static func isOutside(_ overlay: Overlay, _ size: PixelSize) -> Bool {
        // A gravity keeps it inside unless its offset is large.
        guard overlay.gravity == nil, !overlay.repeats else { return false }
        func isOutside(_ place: Int, _ side: Int) -> Bool {
            place < 0 ? side + place <= 0 : place >= side
        }
        return isOutside(overlay.x, size.width) || isOutside(overlay.y, size.height)
    }
}
