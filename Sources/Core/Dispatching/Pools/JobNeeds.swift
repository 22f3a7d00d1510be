import ImageModel
import Messages

/// What a worker has to be able to do for a job, and has to be granted.
struct JobNeeds: Hashable, Sendable {
    private let kind: WorkerKind
    private var scheme: String?
    private var formatIn: ImageFormat?
    private var formatsOut: [String] = []
    private var steps: [String] = []
    /// Whether workers of somebody else transform, and none of ours.
    let isForeign: Bool
    /// Whether any decoder will do for an SVG.
    private var takesDrawingsUndrawn = false

    /// `input` is what the bytes that it reads are said to be.
    init(_ work: JobWork, input: ImageFormat?, isForeign: Bool = false) {
        kind = work.kind
        self.isForeign = isForeign
        switch work {
        case .fetch(let work): scheme = Self.scheme(of: work.url)
        case .decode(let work):
            formatIn = input
            takesDrawingsUndrawn = input == .svg && work.takesDrawingsUndrawn
        case .transform(let work):
            let formats = [false, true].map { work.resultFormat(hasAlpha: $0).name }
            formatsOut = formats[0] == formats[1] ? [formats[0]] : formats
            steps = Set(work.steps.map(\.name)).sorted()
        case .paint(let work): formatsOut = [work.resultFormat.name]
        case .query, .store, .entry: break
        }
    }

    private static func scheme(of url: String) -> String {
        String(decoding: url.utf8.prefix { $0 != 0x3A }, as: UTF8.self).lowercased()
    }

    /// The same where nothing has to be drawn; `nil`: it has.
    var undrawn: JobNeeds? {
        guard takesDrawingsUndrawn else { return nil }
        var needs = self
        (needs.formatIn, needs.takesDrawingsUndrawn) = (nil, false)
        return needs
    }

    /// Whether a worker that can do that can do the job.
    func areMet(by capabilities: WorkerCapabilities) -> Bool {
        missing(in: capabilities) == nil
    }

    /// The first that is missing.
    func missing(in capabilities: WorkerCapabilities) -> Missing? {
        if let scheme, capabilities.schemes?.contains(scheme) == false { return .scheme(scheme) }
        if kind == .decode, !capabilities.decodes(formatIn) { return .formatIn(formatIn) }
        if let out = Self.first(of: formatsOut, notIn: capabilities.formatsOut) {
            return .formatOut(out)
        }
        return Self.first(of: steps, notIn: capabilities.steps).map(Missing.step)
    }

    /// What no pool of somebody else is granted, where it is for such: a custom step, or a format.
    var missingElsewhere: Missing? {
        guard isForeign else { return nil }
        return steps.first.map(Missing.step) ?? formatsOut.first.map(Missing.formatOut)
    }

    private static func first(of names: [String], notIn granted: Set<String>?) -> String? {
        guard let granted else { return nil }
        return names.first { !granted.contains($0) }
    }

    /// What a pool is not granted, or a worker cannot do.
    enum Missing: Hashable, Sendable {
        case scheme(String)
        case formatIn(ImageFormat?)
        case formatOut(String)
        case step(String)
    }
}

extension JobNeeds.Missing {
    /// The refusal of a job for which no pool of its kind has all grants.
    func refusal(of kind: WorkerKind) -> ImageError {
        let (what, key, code): (String, String, ErrorCode) =
            switch self {
            case .scheme(let name): ("the scheme '\(name)'", "schemes", .unsupportedScheme)
            case .formatIn(let format?):
                ("the format '\(format.name)'", "formats-in", .unsupportedFormat)
            case .formatIn(nil): ("bytes of an unknown format", "formats-in", .unsupportedFormat)
            case .formatOut(let name):
                ("the format '\(name)'", "formats-out", .unsupportedFormat)
            case .step(let name): ("the step '\(name)'", "steps", .stepFailed)
            }
        var error = ImageError(
            code,
            "no pool of \(kind.name) workers is granted \(what) for this job: an operator grants "
                + "it with '\(key)' under 'pools' in the configuration")
        if case .step(let name) = self { error.details["step"] = name }
        return error
    }
}
