/// Identifies a result: requests with equal keys share all work (SEMANTICS §3.1). Request options
/// (priority, deadline, cache tiers, and options that affect only how to load) are not part of any
/// key.
public struct ResultKey: Hashable, Sendable {
    /// The pixels that the result is produced from.
    public let decode: DecodeKey
    /// The steps applied to them, in order.
    public let steps: [TransformStep]
    /// The encoding.
    public let output: OutputOptions
    /// Whether only properties are requested.
    public let infoOnly: Bool
    /// The sources of the overlays, in step order.
    public let overlays: [SourceKey]

    /// Whether built-in workers perform all steps and can encode the result.
    package var isOurs: Bool {
        !steps.contains(where: \.isCustom) && output.format?.isEncodable ?? true
    }

    /// The key of a request with the sources of its overlays.
    public init(_ request: ImageRequest, overlays: [SourceKey] = []) {
        self.init(request, of: SourceKey(request), overlays: overlays)
    }

    /// The same for a known source key.
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

/// Identifies decoded pixels: requests with equal keys share one decode (SEMANTICS §3.1).
public struct DecodeKey: Hashable, Sendable {
    /// The source bytes.
    public let source: SourceKey
    /// The frame of an animation; `nil` for a still image.
    public private(set) var frame: Int?
    /// Whether all frames of an animation are wanted.
    public private(set) var wantsAllFrames = false
    /// The minimum that the result needs.
    public private(set) var need = DecodeNeed.full
    /// The metadata decoded along with the pixels, for results that keep it.
    public private(set) var keeps: KeptParts = []
    /// The files that need no decoding because they already are the result; `nil` for none.
    public private(set) var passThrough: PassThrough?
    /// The properties determined along with the pixels.
    public private(set) var properties = RequestedProperties()
    /// Whether the pixels are an overlay, for which a smaller limit applies.
    public private(set) var isOverlay = false
    /// The permitted coders, in order of preference; empty for all.
    public private(set) var coders: [String] = []
    /// The configured limits. Part of the key so that a request with lower limits never shares a
    /// decode with higher ones.
    public let limits: LimitSettings
    /// Whether a partial decode of damaged pixels is acceptable.
    public private(set) var showsDamaged = false

    /// The key of a request.
    public init(_ request: ImageRequest) { self.init(request, of: SourceKey(request)) }

    /// The same for a known source key.
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
        passThrough = PassThrough(request)
        if request.wantsProperties { properties = request.properties }
        // A load that needs no pixels can share its work with all others.
        self.showsDamaged = showsDamaged && (need != .header || properties.needPixels)
        self.limits = limits.ofPixels
    }

    /// The key of an overlay, decoded in full.
    public init(overlay source: SourceKey, limits: LimitSettings = LimitSettings()) {
        self.source = source
        isOverlay = true
        self.limits = limits.ofPixels
    }
}

/// Identifies a transfer: requests with equal keys share one (SEMANTICS §3.1).
public struct SourceKey: Hashable, Sendable {
    /// The URL as given, including user info: two users never share a transfer.
    public let url: String
    /// All request headers with lowercase names, in a canonical order.
    public let headers: [HTTPHeader]
    /// Computed once because keys are looked up many times during a load.
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

    /// Compares URL and headers; the digest rejects most differences early.
    public static func == (left: SourceKey, right: SourceKey) -> Bool {
        left.digest == right.digest && left.url == right.url && left.headers == right.headers
    }

    /// Hashes only the digest.
    public func hash(into hasher: inout Hasher) { hasher.combine(digest) }

    /// Compares bytes, because canonically equivalent strings would have no defined order.
    private static func precedes(_ left: HTTPHeader, _ right: HTTPHeader) -> Bool {
        if !left.name.utf8.elementsEqual(right.name.utf8) {
            return left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
        }
        return left.value.utf8.lexicographicallyPrecedes(right.value.utf8)
    }
}

/// An operation of a load on a source. A failure of one operation doesn't affect the others, except
/// that a failed transfer or header affects all (SEMANTICS §7.2).
package enum SourceOperation: Hashable, Sendable {
    /// The bytes are fetched and the header is read.
    case header
    /// The pixels are decoded; an animation is decoded as a still image.
    case still
    case frame(Int)
    case allFrames

    /// The description of the prevented stage, for operators.
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
    package var operation: SourceOperation {
        guard needsPixels else { return .header }
        return animates ? .allFrames : frame.map { .frame($0) } ?? .still
    }
}

extension DecodeKey {
    package var operation: SourceOperation {
        if wantsAllFrames { return .allFrames }
        if let frame { return .frame(frame) }
        return need == .header && !properties.needPixels ? .header : .still
    }
}

extension ImageError {
    /// Returns which operation on a source is prevented by this decoding failure. Bytes without a
    /// valid header are unusable for any operation, and failures of plug-ins are not distinguished.
    package func prevented(of operation: SourceOperation) -> SourceOperation {
        let preventsAll = code == .badImageData && !damagesPixelsOnly || code == .foreignFailure
        return preventsAll ? .header : operation
    }
}
