/// Which result: equal keys share all work (SEMANTICS §3.1). Wishes (priority, deadline, cache
/// tiers, options that say how to ask) are in no key.
public struct ResultKey: Hashable, Sendable {
    /// Which pixels it is made of.
    public let decode: DecodeKey
    /// What is done to them, in order.
    public let steps: [TransformStep]
    /// How they are encoded.
    public let output: OutputOptions
    /// Only facts.
    public let infoOnly: Bool
    /// Whose bytes are laid over them, in the order of the steps.
    public let overlays: [SourceKey]

    /// Whether our own workers do all steps, and encode it or may do so.
    package var isOurs: Bool {
        !steps.contains(where: \.isCustom) && output.format?.isEncodable ?? true
    }

    /// The key of a request and of what is laid over its image.
    public init(_ request: ImageRequest, overlays: [SourceKey] = []) {
        self.init(request, of: SourceKey(request), overlays: overlays)
    }

    /// The same, where the key of its source is known.
    public init(
        _ request: ImageRequest, of source: SourceKey, overlays: [SourceKey],
        limits: LimitSettings = LimitSettings(), coders: [String] = [],
        showsDamaged: Bool = false
    ) {
        decode = DecodeKey(
            request, of: source, limits: limits, coders: coders, showsDamaged: showsDamaged)
        steps = request.allSteps
        output = request.output
        infoOnly = request.infoOnly
        self.overlays = overlays
    }
}

/// Which pixels: equal keys share one decode (SEMANTICS §3.1).
public struct DecodeKey: Hashable, Sendable {
    /// Whose bytes.
    public let source: SourceKey
    /// Which frame of an animation; `nil`: as a still image.
    public let frame: Int?
    /// Whether all frames of an animation are wanted.
    public let wantsAllFrames: Bool
    /// What the result needs of them at least.
    public let need: DecodeNeed
    /// What comes with them, for results that keep it.
    public let keeps: KeptParts
    /// Which files need not be decoded, since they are the result; `nil`: none.
    public let passing: Passing?
    /// Facts that come with them.
    public let facts: WantedFacts
    /// Whether they are laid over others: such images are smaller, or refused.
    public let isOverlay: Bool
    /// Who may decode, in the order in which they are asked; empty: all that there are.
    public let coders: [String]
    /// The limits that the configuration sets: who may have less waits for no decode of more.
    public let limits: LimitSettings
    /// Whether what there is of damaged pixels will do.
    public let showsDamaged: Bool

    /// The key of a request.
    public init(_ request: ImageRequest) { self.init(request, of: SourceKey(request)) }

    /// The same, where the key of its source is known.
    public init(
        _ request: ImageRequest, of source: SourceKey, limits: LimitSettings = LimitSettings(),
        coders: [String] = [], showsDamaged: Bool = false
    ) {
        self.source = source
        self.coders = coders
        frame = request.frame
        wantsAllFrames = request.animates
        need = DecodeNeed(request)
        keeps = need == .header ? [] : KeptParts(request)
        passing = Passing(request)
        facts = request.wantsFacts ? request.facts : WantedFacts()
        isOverlay = false
        // A load that needs no pixels shares its work with all others.
        self.showsDamaged = showsDamaged && (need != .header || facts.needPixels)
        self.limits = limits.ofPixels
    }

    /// The key of an image that is laid over others, as it is.
    public init(overlay source: SourceKey, limits: LimitSettings = LimitSettings()) {
        self.source = source
        coders = []
        frame = nil
        wantsAllFrames = false
        need = .full
        keeps = []
        passing = nil
        facts = WantedFacts()
        showsDamaged = false
        isOverlay = true
        self.limits = limits.ofPixels
    }
}

/// What is fetched, and what may come back: equal keys share one transfer (SEMANTICS §3.1).
public struct SourceKey: Hashable, Sendable {
    /// The URL as given, user info included: two users never share a transfer.
    public let url: String
    /// All request headers, names in lower case, in a canonical order.
    public let headers: [HTTPHeader]
    /// Hashed once: keys are looked up many times while an image is made.
    private let digest: Int

    /// The key of a request.
    public init(_ request: borrowing ImageRequest) {
        url = request.url
        headers = request.headers
            .map { HTTPHeader(name: $0.name.lowercased(), value: $0.value) }
            .sorted(by: Self.precedes)
        var hasher = Hasher()
        hasher.combine(url)
        hasher.combine(headers)
        digest = hasher.finalize()
    }

    /// By what is fetched; the digest tells most of what differs at once.
    public static func == (left: SourceKey, right: SourceKey) -> Bool {
        left.digest == right.digest && left.url == right.url && left.headers == right.headers
    }

    /// The digest stands for all of it.
    public func hash(into hasher: inout Hasher) { hasher.combine(digest) }

    /// By bytes: texts that only look alike have no order of their own otherwise.
    private static func precedes(_ left: HTTPHeader, _ right: HTTPHeader) -> Bool {
        if !left.name.utf8.elementsEqual(right.name.utf8) {
            return left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
        }
        return left.value.utf8.lexicographicallyPrecedes(right.value.utf8)
    }
}

/// What a load does with a source. A failure of one of them says nothing about the others, but that
/// of a transfer or of a header holds for all (SEMANTICS §7.2).
package enum SourceOperation: Hashable, Sendable {
    /// Its bytes are fetched and its header is read.
    case header
    /// Its pixels are decoded, of an animation as a still image.
    case still
    /// One frame is decoded.
    case frame(Int)
    /// All frames are decoded.
    case allFrames

    /// Which stage is not tried, and of what, for operators.
    package var name: String {
        switch self {
        case .header: "fetch"
        case .still: "decode"
        case .frame(let number): "decode frame \(number)"
        case .allFrames: "decode all frames"
        }
    }
}

extension ImageRequest {
    /// What is done with its source.
    package var operation: SourceOperation {
        guard needsPixels else { return .header }
        return animates ? .allFrames : frame.map { .frame($0) } ?? .still
    }
}

extension DecodeKey {
    /// What is done with the source.
    package var operation: SourceOperation {
        if wantsAllFrames { return .allFrames }
        if let frame { return .frame(frame) }
        return need == .header && !facts.needPixels ? .header : .still
    }
}

extension ImageError {
    /// What cannot be done with a source since decoding it failed so. Bytes without a header are no
    /// image for anybody, and what an external worker says is not told apart.
    package func prevented(of operation: SourceOperation) -> SourceOperation {
        let isOfSource = code == .badImageData && !damagesPixelsOnly
        return isOfSource || code == .foreignFailure ? .header : operation
    }
}
