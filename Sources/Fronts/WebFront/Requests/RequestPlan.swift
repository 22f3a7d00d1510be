package import Model
package import WebGrammar

/// What is requested from the stack for one HTTP request, which of its fields this depends on, and
/// how to respond.
package struct RequestPlan: Hashable, Sendable {
    package var request: WebRequest
    /// Field names for `Vary`.
    package var varies: [String] = []
    package var conditions = Conditions()
    /// Whether errors are sent as JSON objects.
    package var wantsJSON = false
    /// How image properties are formatted, if they are requested.
    package var properties: PropertiesPlan?
    /// The formats that the client accepts, if the format is negotiated.
    package var accept: AcceptHeader?
    /// The bytes to upload in place of a URL.
    package var upload: Upload?
    /// The error because of which this loads the fallback image.
    package var fallbackFor: ImageError?
    /// Whether the original request had headers with credentials.
    var fallbackIsPersonal = false
    /// The largest number of frames of an animation to keep.
    package var framesMax = 1
    /// The EXIF, XMP and IPTC metadata to keep; `nil` leaves it to the request.
    var metadata: MetadataChoice?
    /// The output options if the path doesn't specify them.
    package var defaults = OutputDefaults()

    /// Bytes that the stack doesn't have to fetch.
    package enum Upload: Hashable, Sendable {
        case body
        /// The listener's own file.
        case fallback([UInt8])
    }

    /// Creates a plan for a request as specified by its path.
    package init(_ request: WebRequest) { self.request = request }

    /// Whether the response may be cached.
    var isKept: Bool { upload != .body }
}

// Choosing what a path leaves open.
extension RequestPlan {
    /// Applies the settings of the listener.
    mutating func apply(_ settings: WebFrontSettings) {
        request.image.timeoutMilliseconds = settings.timeoutMilliseconds
        request.image.context.damaged = request.image.context.damaged ?? settings.damaged
        if request.kind == .image {
            framesMax = max(1, request.framesMax ?? settings.framesMax)
            if framesMax > 1 { request.image.options.insert(.transformAnimatedImage) }
            metadata = request.image.output.metadata ?? settings.metadata
            request.image.output.metadata = metadata
            pass(settings)
        }
        guard upload == nil else { return }
        request.image.options.insert(.respectCacheControl)
        request.image.assumedLifetime = settings.assumedLifetime
        request.image.earlierFailureMilliseconds = settings.earlierFailureMilliseconds
    }

    /// Sets the formats whose sources are sent unchanged. A source is decoded if the path names
    /// another format.
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

    /// Whether the origin is asked even if the cached image is fresh.
    var isRevalidation: Bool { request.image.options.contains(.refreshCached) }

    /// Requests revalidation with the origin, even if the source is in the failure cache.
    mutating func revalidate() {
        request.image.options.formUnion([.refreshCached, .retryFailed])
    }

    /// Sends the source unchanged if no steps are applied and all metadata is kept.
    mutating func settle() {
        guard metadata == .all, request.image.steps.isEmpty else { return }
        var rest = request.image.output
        (rest.metadata, rest.passed) = (nil, [])
        if rest.isDefault { request.image.output.metadata = nil }
    }

    /// Applies the listener's default quality if the path doesn't specify one.
    mutating func apply(qualitiesOf defaults: OutputDefaults) {
        guard request.kind == .image, request.image.output.quality == nil else { return }
        let qualities = defaults.qualities.merging(request.formatQualities) { $1 }
        if let format = request.image.output.format {
            request.image.output.quality = qualities[format] ?? defaults.quality
        } else {
            request.formatQualities = qualities
        }
    }

    /// Completes the output options once the format is chosen.
    mutating func complete(by defaults: OutputDefaults) {
        guard request.kind == .image else { return }
        self.defaults = defaults
        defaults.complete(
            &request.image.output, of: request.image.url, isProgressive: request.isProgressive)
    }

    /// Chooses the format according to the `Accept` field.
    mutating func negotiate(
        _ field: String?, offered: [ImageFormat], _ outputDefaults: OutputDefaults = .init()
    ) {
        guard request.negotiatesFormat else { return }
        varies.append("Accept")
        var header = AcceptHeader(field)
        // A client that accepts only JSON wants errors in that format, and accepts any image.
        if header.namesJSON, !header.acceptsImages { header = AcceptHeader(nil) }
        accept = header
        let chosen = header.better(of: offered)
        guard let best = chosen.first else {
            // The stack then usually encodes JPEG.
            request.image.output.quality =
                request.formatQualities[.jpeg] ?? request.image.output.quality
            return
        }
        // Leaving the choice to the stack allows another accepted format if the image is too large
        // for the first one. Format-specific options require a fixed format.
        let accepted = chosen.filter(OutputOptions.acceptable.contains)
        if accepted.first == best, request.formatQualities.isEmpty,
            !request.image.output.keepsHDR, !accepted.contains(where: outputDefaults.isStated)
        {
            request.image.output.accepted = accepted
        } else {
            request.image.output.format = best
            request.image.output.quality =
                request.formatQualities[best] ?? request.image.output.quality
        }
    }

    /// Uses the source's format, whatever the client accepts.
    mutating func keepFormat() {
        guard request.negotiatesFormat else { return }
        let format = OutputDefaults.format(ofSource: request.image.url) ?? .jpeg
        request.image.output.quality =
            request.formatQualities[format] ?? request.image.output.quality
    }

    /// Applies client hints: the size if the path specifies none, the pixel ratio if it specifies a
    /// size, and the quality for clients that save data. IIIF sizes are exact and are not changed.
    mutating func apply(_ hints: ClientHints, _ settings: HintSettings) {
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

    /// Returns a plan for the same image in another format, which is accepted.
    func asking(for format: ImageFormat) -> RequestPlan {
        var plan = self
        plan.accept = nil
        plan.request.image.output.accepted = []
        plan.request.image.output.metadata = metadata
        plan.request.image.output.passed.removeAll { $0 != format }
        plan.request.image.output.format = format
        plan.request.image.output.quality =
            request.formatQualities[format] ?? request.image.output.quality
        defaults.complete(
            &plan.request.image.output, of: request.image.url,
            isProgressive: request.isProgressive)
        return plan
    }

    /// Whether more than one frame of an animation is requested.
    var keepsFrames: Bool { request.image.options.contains(.transformAnimatedImage) }

    /// Returns a plan for one frame of an animation with too many frames.
    func asStill() -> RequestPlan {
        var plan = self
        plan.framesMax = 1
        plan.request.image.options.remove(.transformAnimatedImage)
        return plan
    }

    /// Returns the plan for loading the fallback.
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
    /// Whether imgproxy applies the step before it scales.
    fileprivate var isBeforeResize: Bool {
        switch self {
        case .trim, .rotate, .flip, .crop, .cropTo, .cropRatio: true
        default: false
        }
    }
}

/// Request fields that are passed to the origin of an image (imgproxy's
/// `IMGPROXY_REQUEST_HEADERS_PASSTHROUGH`). The coordinator permits them in the profile `web`
/// (SEMANTICS §14.11).
package struct PassedHeaders: Hashable, Sendable {
    /// The names as specified by the operator.
    private var names: [String] = []
    /// The sources that receive them; `nil` for all.
    private var sources: [SourcePattern]?

    /// Passes no fields.
    init() {}

    /// Parses comma-separated names, with patterns for the sources that receive them. Throws for a
    /// field that the loader sets itself, and for a field that may contain credentials if the
    /// sources are not restricted: otherwise a malicious page could make a browser send it to any
    /// host.
    package init(names text: String, sources: [SourcePattern]?) throws(GrammarError) {
        var names: [String] = []
        for name in text.split(separator: ",").map({ String($0.trimmedOfBlanks) }) {
            try Self.check(name, isForNamedSources: sources != nil)
            guard !Self.has(name, in: names) else { continue }
            names.append(name)
        }
        try require(
            !names.isEmpty && names.count <= RequestLimits.headersMax,
            "expected 1 to \(RequestLimits.headersMax) header names")
        (self.names, self.sources) = (names, sources)
    }

    private static func check(
        _ name: String, isForNamedSources: Bool
    ) throws(GrammarError) {
        let header = HTTPHeader(name: name, value: "")
        if let reason = header.isValid ? header.refusal : "not a valid header name" {
            throw .malformed("'\(name.prefix(60))' cannot be forwarded: \(reason)")
        }
        try require(
            isForNamedSources || !header.isCredential,
            "\(name.prefix(60)) may identify a user: restrict the sources that receive it with "
                + "--pass-headers-to, such as https://*.example.com/")
    }

    /// Whether a field is passed, ignoring case.
    package func has(_ name: String) -> Bool { Self.has(name, in: names) }

    private static func has(_ name: String, in names: [String]) -> Bool {
        names.contains { $0.lowercased() == name.lowercased() }
    }

    /// Returns the names of the fields passed to the source with this URL.
    func names(for url: String) -> [String] {
        guard let sources, !SourcePattern.permit(sources, url) else { return names }
        return []
    }
}

extension RequestPlan {
    /// Passes these fields of the request to the origin; the response depends on them. Throws for a
    /// value that is not UTF-8, which could neither be passed on unchanged nor be distinguished
    /// from others.
    mutating func forward(
        _ passed: PassedHeaders, of field: (String) -> String?
    ) throws(GrammarError) {
        for name in passed.names(for: request.image.url) {
            varies.append(name)
            guard let value = field(name) else { continue }
            try require(
                !value.unicodeScalars.contains("\u{FFFD}"),
                "the header \(name) is not UTF-8 and cannot be forwarded")
            request.image.headers.append(HTTPHeader(name: name, value: value))
        }
    }
}
