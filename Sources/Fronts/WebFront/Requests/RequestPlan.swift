package import ImageModel
package import WebGrammar

/// What is asked of the stack for one request, on which of its fields that depends, and how the
/// answer is to be.
package struct RequestPlan: Hashable, Sendable {
    package var request: WebRequest
    /// Names for `Vary`.
    package var varies: [String] = []
    package var conditions = Conditions()
    /// Whether errors are objects for programs.
    package var wantsJSON = false
    /// Where facts are answered: how.
    package var facts: FactsPlan?
    /// Where the format of the image is left to the client: what that accepts.
    package var accept: AcceptHeader?
    /// Which bytes go along with it, in the place of a URL.
    package var upload: Upload?
    /// Why it loads the fallback of the image that was asked for.
    package var fallbackFor: ImageError?
    /// Whether that image was asked for with headers that say who asks.
    var fallbackIsPersonal = false
    /// Frames of an animation that are kept at most.
    package var framesMax = 1
    /// What of EXIF, XMP and IPTC the image has; `nil`: what the request of the stack says.
    var metadata: MetadataChoice?
    /// How the image is written where the path does not say it.
    package var defaults = OutputDefaults()

    /// Bytes that the stack does not have to fetch.
    package enum Upload: Hashable, Sendable {
        /// The body of the request.
        case body
        /// The listener's own file.
        case fallback([UInt8])
    }

    /// A request as its path says.
    package init(_ request: WebRequest) { self.request = request }

    /// Whether anybody may keep the answer.
    var isKept: Bool { upload != .body }
}

// What a path leaves open is chosen for the client.
extension RequestPlan {
    /// As the listener loads everything.
    mutating func apply(_ settings: WebFrontSettings) {
        request.image.timeoutMilliseconds = settings.timeoutMilliseconds
        request.image.context.damaged = request.image.context.damaged ?? settings.damaged
        if request.kind == .image {
            keepFrames(request.framesMax ?? settings.framesMax)
            keepMetadata(settings.metadata)
            pass(settings)
        }
        guard upload == nil else { return }
        request.image.options.insert(.respectCacheControl)
        request.image.assumedLifetime = settings.assumedLifetime
        request.image.earlierFailureMilliseconds = settings.earlierFailureMilliseconds
    }

    private mutating func keepFrames(_ most: Int) {
        guard most > 1 else { return }
        framesMax = most
        request.image.options.insert(.transformAnimatedImage)
    }

    /// As the path says, or else the listener.
    private mutating func keepMetadata(_ usual: MetadataChoice) {
        let choice = request.image.output.metadata ?? usual
        (metadata, request.image.output.metadata) = (choice, choice)
    }

    /// Which sources are answered as files. One of another format than the path names is decoded.
    private mutating func pass(_ settings: WebFrontSettings) {
        let named = request.image.output.format
        var formats = (settings.skippedFormats + request.skippedFormats).filter {
            named == nil || named == $0
        }
        if named == nil, settings.passesDrawings || request.image.steps.isEmpty {
            formats.append(.svg)
        }
        request.image.output.passed = formats
    }

    /// Whether the origin is asked, however fresh the image is.
    var isRevalidation: Bool { request.image.options.contains(.refreshCached) }

    /// Has the origin asked, also where the source failed before.
    mutating func revalidate() {
        request.image.options.formUnion([.refreshCached, .retryFailed])
    }

    /// Where nothing is done to an image that keeps all of its metadata, it is its source.
    mutating func settle() {
        guard metadata == .all, request.image.steps.isEmpty else { return }
        var rest = request.image.output
        (rest.metadata, rest.passed) = (nil, [])
        if rest.isDefault { request.image.output.metadata = nil }
    }

    /// Takes the qualities of the listener for what the path leaves open.
    mutating func take(qualitiesOf defaults: OutputDefaults) {
        guard request.kind == .image, request.image.output.quality == nil else { return }
        let qualities = defaults.qualities(besides: request.formatQualities)
        if let format = request.image.output.format {
            request.image.output.quality = qualities[format] ?? defaults.quality
        } else {
            request.formatQualities = qualities
        }
    }

    /// Completes the output, once its format is chosen.
    mutating func complete(by defaults: OutputDefaults) {
        guard request.kind == .image else { return }
        self.defaults = defaults
        defaults.complete(&request.image.output, of: request.image.url)
    }

    /// The format, by the field `Accept`.
    mutating func negotiate(
        _ field: String?, offered: [ImageFormat], _ outputDefaults: OutputDefaults = .init()
    ) {
        guard request.negotiatesFormat else { return }
        varies.append("Accept")
        var header = AcceptHeader(field)
        // A client that accepts nothing but JSON wants errors in that form, and any image.
        if header.namesJSON, !header.acceptsImages { header = AcceptHeader(nil) }
        accept = header
        let chosen = header.better(of: offered)
        guard let best = chosen.first else {
            // The stack mostly writes JPEG then.
            request.image.output.quality =
                request.formatQualities[.jpeg] ?? request.image.output.quality
            return
        }
        // One that is accepted gives way where the image is too large for it; what else is said of
        // a format needs one that is named.
        let accepted = chosen.filter(OutputOptions.acceptable.contains)
        if accepted.first == best, request.formatQualities.isEmpty,
            !request.image.output.keepsHDR, !accepted.contains(where: outputDefaults.isSaid)
        {
            request.image.output.accepted = accepted
        } else {
            request.image.output.format = best
            request.image.output.quality =
                request.formatQualities[best] ?? request.image.output.quality
        }
    }

    /// The format is that of the source, whatever the client accepts.
    mutating func keepFormat() {
        guard request.negotiatesFormat else { return }
        let format = OutputDefaults.format(ofSource: request.image.url) ?? .jpeg
        request.image.output.quality =
            request.formatQualities[format] ?? request.image.output.quality
    }

    /// The size, where the path says none; the pixels a point, where it says a size; the quality
    /// of those who save data. The sizes of IIIF are what they say.
    mutating func heed(_ hints: ClientHints, _ settings: HintSettings) {
        guard request.kind == .image else { return }
        if settings.looksAtSaving { varies.append(HintSettings.ofSaving) }
        if hints.savesData, request.image.output.quality == nil, request.formatQualities.isEmpty {
            request.image.output.quality = settings.savingQuality
        }
        guard request.identifier == nil else { return }
        if request.image.steps.contains(where: \.isResize) {
            guard !request.saysPixelRatio else { return }
            varies += HintSettings.ofRatio
            request.image.pixelRatio = hints.ratio ?? 1
        } else {
            varies += HintSettings.ofWidth
            guard let width = hints.width else { return }
            let place = request.image.steps.firstIndex { !$0.isBeforeResize }
            request.image.steps.insert(
                .resize(PixelSize(width: width, height: 0), .fit),
                at: place ?? request.image.steps.endIndex)
        }
    }

    /// The same image in another format, which is accepted.
    func asking(for format: ImageFormat) -> RequestPlan {
        var plan = self
        plan.accept = nil
        plan.request.image.output.accepted = []
        plan.request.image.output.metadata = metadata
        plan.request.image.output.passed.removeAll { $0 != format }
        plan.request.image.output.format = format
        plan.request.image.output.quality =
            request.formatQualities[format] ?? request.image.output.quality
        defaults.complete(&plan.request.image.output, of: request.image.url)
        return plan
    }

    /// Whether more frames of an animation than one are wanted.
    var keepsFrames: Bool { request.image.options.contains(.transformAnimatedImage) }

    /// The same with one frame of an animation, which has too many of them.
    func asStill() -> RequestPlan {
        var plan = self
        plan.framesMax = 1
        plan.request.image.options.remove(.transformAnimatedImage)
        return plan
    }

    /// The load of what is shown in its place.
    func falling(back settings: FallbackSettings, after error: ImageError) -> RequestPlan {
        var plan = self
        plan.fallbackFor = error
        plan.fallbackIsPersonal = request.image.headers.contains(where: \.isCredential)
        switch settings.image {
        case .url(let url): plan.request.image = request.image.loading(fallback: url)
        case .bytes(let bytes):
            plan.request.image = request.image.loading(fallback: "")
            plan.upload = .fallback(bytes)
        }
        return plan
    }
}

extension TransformStep {
    /// Whether imgproxy does it before it scales.
    fileprivate var isBeforeResize: Bool {
        switch self {
        case .trim, .rotate, .flip, .crop, .cropTo, .cropRatio: true
        default: false
        }
    }
}

/// Fields of a request that go along to the origin of its image (imgproxy's
/// `IMGPROXY_REQUEST_HEADERS_PASSTHROUGH`). The coordinator permits them by the profile `web`
/// (SEMANTICS §14.11).
package struct PassedHeaders: Hashable, Sendable {
    /// Names, as the operator writes them.
    private let names: [String]
    /// The sources that get them; `nil`: all.
    private let sources: [SourcePattern]?

    /// Nothing is passed.
    package init() { (names, sources) = ([], nil) }

    /// Names with commas between, and beginnings of the sources that get them. Throws for a field
    /// that is the loader's own, and for one that may say who asks where the sources are not named:
    /// a page of a stranger could have a browser send it to any host.
    package init(names text: String, sources: [SourcePattern]?) throws(GrammarError) {
        var names: [String] = []
        for name in text.split(separator: ",").map({ String($0.trimmedOfBlanks) }) {
            try Self.check(name, isForNamedSources: sources != nil)
            guard !Self.has(name, in: names) else { continue }
            names.append(name)
        }
        guard !names.isEmpty, names.count <= RequestLimits.headersMax else {
            throw GrammarError(
                .malformed, "from 1 to \(RequestLimits.headersMax) names are accepted")
        }
        (self.names, self.sources) = (names, sources)
    }

    private static func check(
        _ name: String, isForNamedSources: Bool
    ) throws(GrammarError) {
        let header = HTTPHeader(name: name, value: "")
        if let reason = header.isValid ? header.refusal : "it is not the name of a header" {
            throw GrammarError(
                .malformed, "'\(name.prefix(60))' cannot be passed on: \(reason)")
        }
        guard isForNamedSources || !header.isCredential else {
            throw GrammarError(
                .malformed,
                "\(name.prefix(60)) may identify a user: name the sources that get it with "
                    + "--pass-headers-to, such as https://*.example.com/")
        }
    }

    /// Whether a field is among them, in any case.
    package func has(_ name: String) -> Bool { Self.has(name, in: names) }

    private static func has(_ name: String, in names: [String]) -> Bool {
        names.contains { $0.lowercased() == name.lowercased() }
    }

    /// The names whose fields the source of this URL gets.
    func names(for url: String) -> [String] {
        guard let sources, !SourcePattern.permit(sources, url) else { return names }
        return []
    }
}

extension RequestPlan {
    /// The origin gets these fields of the request, and the answer depends on them. Throws for a
    /// value that is not UTF-8: it could not be passed on as it is, nor be told from others.
    mutating func take(
        _ passed: PassedHeaders, of field: (String) -> String?
    ) throws(GrammarError) {
        for name in passed.names(for: request.image.url) {
            varies.append(name)
            guard let value = field(name) else { continue }
            guard !value.unicodeScalars.contains("\u{FFFD}") else {
                throw GrammarError(
                    .malformed, "the header \(name) is not UTF-8 and cannot be passed on")
            }
            request.image.headers.append(HTTPHeader(name: name, value: value))
        }
    }
}
