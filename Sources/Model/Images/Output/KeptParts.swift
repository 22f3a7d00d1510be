/// The parts of a source that a result retains besides its pixels (SEMANTICS §11.21, §11.22).
public struct KeptParts: OptionSet, Hashable, Sendable {
    /// The bits of `Decode.keeps` in `imagebus.proto`.
    public let rawValue: UInt32

    /// Accepts any bits; unknown ones are ignored.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Unconverted RGB pixels and their ICC profile.
    public static let profile = KeptParts(rawValue: 1 << 0)
    /// The same for gray pixels.
    public static let grayProfile = KeptParts(rawValue: 1 << 1)
    /// Author and copyright.
    public static let rights = KeptParts(rawValue: 1 << 2)
    /// All EXIF, XMP and IPTC metadata.
    public static let metadata = KeptParts(rawValue: 1 << 3)

    /// 16-bit samples if the source has more than 8 bits.
    public static let depth = KeptParts(rawValue: 1 << 4)
    /// The same for high dynamic range colors, unconverted.
    public static let hdr = KeptParts(rawValue: 1 << 5)

    /// All parts known to this version.
    package static let known: KeptParts = [
        .profile, .grayProfile, .rights, .metadata, .depth, .hdr,
    ]

    /// The parts that the result of a request needs. It needs more than 8 bits per sample only if
    /// all steps support that.
    package init(_ request: ImageRequest) {
        self.init(request.output)
        if request.hasCustomSteps { self = [] }
        guard request.allSteps.allSatisfy(\.form.takesDepth) else { return }
        let output = request.output
        if output.depth ?? 8 > 8 { insert(.depth) }
        if output.keepsHDR, output.depth != 8, output.colors == nil,
            output.format?.holdsHDR == true
        {
            insert(.hdr)
        }
    }

    /// Returns whether a decode that keeps these parts may produce such samples.
    package func permit(_ samples: SampleForm) -> Bool {
        guard samples.isPossible else { return false }
        return samples.hdr == nil ? !samples.isDeep || contains(.depth) : contains(.hdr)
    }

    /// The parts needed for these options, limited to what every possible output format can hold.
    /// If the format follows from the source (SEMANTICS §11.11), it is one that holds all.
    package init(_ output: OutputOptions) {
        let formats = output.format.map { [$0] } ?? output.accepted
        self = []
        guard formats.allSatisfy(OutputSetting.holders.contains) else { return }
        if output.keepsProfile {
            insert(.profile)
            if formats.allSatisfy(OutputSetting.grayHolders.contains) { insert(.grayProfile) }
        }
        switch output.metadata {
        case nil, .nothing: break
        case .copyright: insert(.rights)
        case .all: insert(.metadata)
        }
    }
}

/// The EXIF, XMP and IPTC metadata that a result retains.
public enum MetadataChoice: Int, Hashable, Sendable, CaseIterable {
    /// No metadata; `none` on the command line, in keys and on the wire.
    case nothing = 0
    /// Author and copyright.
    case copyright = 1
    /// All metadata including locations, except for the orientation, which has been applied, and
    /// the thumbnail.
    case all = 2
}

/// The sources that are passed through: delivered as files, without being decoded and encoded
/// (SEMANTICS §11.37). Determined by the request; the decoder checks whether a file qualifies.
public struct PassThrough: Hashable, Sendable {
    /// Formats whose files are delivered regardless of the steps: a bit per index of
    /// `OutputOptions.passable`.
    public var formatBits: UInt32
    /// Whether the request asks for no change of pixels or format other than a reduction that
    /// leaves some images unchanged, so that files of any format may be delivered.
    public var isUnchanged: Bool
    /// The metadata that the file retains.
    public var metadata: MetadataChoice

    /// Creates a rule.
    public init(formats: [ImageFormat] = [], isUnchanged: Bool, metadata: MetadataChoice) {
        formatBits = OutputOptions.passable.enumerated().reduce(0) {
            formats.contains($1.element) ? $0 | 1 << $1.offset : $0
        }
        self.isUnchanged = isUnchanged
        self.metadata = metadata
    }

    /// Returns `nil` if every source is decoded, or delivered as received.
    package init?(_ request: ImageRequest) {
        guard !request.infoOnly, request.frame == nil, !request.wantsOriginal else { return nil }
        let output = request.output
        let (passed, metadata) = (output.passed, output.metadata)
        var rest = output
        (rest.passed, rest.metadata) = ([], nil)
        let leavesSize = request.thumbnail == nil && request.steps.isEmpty
        let isUnchanged =
            (leavesSize || request.isReductionOnly) && rest.isDefault
            && (metadata != .all || !passed.isEmpty)
        guard isUnchanged || !passed.isEmpty else { return nil }
        self.init(formats: passed, isUnchanged: isUnchanged, metadata: metadata ?? .all)
    }

    /// Returns whether a file is passed through.
    ///
    /// - Parameters:
    ///   - need: the need of the steps; a file of a format not listed is passed through only if
    ///     they leave its size unchanged.
    ///   - keepsFrames: whether the request wants all frames of an animation.
    package func applies(to file: ImageInfo, for need: DecodeNeed, keepsFrames: Bool) -> Bool {
        let isWhole = isUnchanged && (file.frames == 1 || keepsFrames) && need.leaves(file)
        guard isWhole || names(file.format) else { return false }
        return metadata == .all || Self.stripped.contains(file.format)
    }

    /// Returns whether the format is listed, so that steps are ignored.
    package func names(_ format: ImageFormat) -> Bool {
        OutputOptions.passable.firstIndex(of: format).map { formatBits & 1 << $0 != 0 } ?? false
    }

    /// Returns whether an SVG of any size is passed through.
    package func appliesToDrawings(for need: DecodeNeed) -> Bool {
        names(.svg) || (isUnchanged && need.leavesDrawings)
    }

    /// Formats whose metadata can be removed without changing pixels. An SVG is a document without
    /// such metadata.
    package static let stripped: [ImageFormat] = [.jpeg, .png, .webp, .gif, .svg]
}
