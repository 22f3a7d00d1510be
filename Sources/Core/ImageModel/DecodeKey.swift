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
