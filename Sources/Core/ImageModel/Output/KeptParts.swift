/// What of a source goes into a result beside its pixels (SEMANTICS §11.21, §11.22).
public struct KeptParts: OptionSet, Hashable, Sendable {
    /// The bits, as PROTOCOL §7.1 numbers them.
    public let rawValue: UInt32

    /// Takes any bits; unknown ones are refused with the message.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Pixels of red, green and blue as they are, and the ICC profile that says what they mean.
    public static let profile = KeptParts(rawValue: 1 << 0)
    /// The same of grey pixels.
    public static let greyProfile = KeptParts(rawValue: 1 << 1)
    /// Who made it, and whose it is.
    public static let rights = KeptParts(rawValue: 1 << 2)
    /// All EXIF, XMP and IPTC.
    public static let metadata = KeptParts(rawValue: 1 << 3)

    /// Samples of 16 bits, where the source has more than 8.
    public static let depth = KeptParts(rawValue: 1 << 4)
    /// The same of colours of a high dynamic range, as they are.
    public static let hdr = KeptParts(rawValue: 1 << 5)

    /// Those that this version knows.
    package static let known: KeptParts = [
        .profile, .greyProfile, .rights, .metadata, .depth, .hdr,
    ]

    /// What the result of a request needs. More than 8 bits of a sample it needs where all steps
    /// take them.
    package init(_ request: ImageRequest) {
        self.init(request.output)
        if request.hasCustomSteps { self = [] }
        guard request.allSteps.allSatisfy(\.form.takesDepth) else { return }
        let output = request.output
        if output.depth ?? 8 > 8 { insert(.depth) }
        if output.keepsHDR, output.depth != 8, output.colours == nil,
            output.format?.holdsHDR == true
        {
            insert(.hdr)
        }
    }

    /// Whether samples of a decode that keeps these may be such.
    package func permit(_ samples: SampleForm) -> Bool {
        guard samples.isPossible else { return false }
        return samples.hdr == nil ? !samples.isDeep || contains(.depth) : contains(.hdr)
    }

    /// What a result of these options needs, as far as each format holds such that it may be of.
    /// Where the format follows from the source (SEMANTICS §11.11) it is one that holds all.
    package init(_ output: OutputOptions) {
        let formats = output.format.map { [$0] } ?? output.accepted
        self = []
        guard formats.allSatisfy(OutputSetting.holders.contains) else { return }
        if output.keepsProfile {
            insert(.profile)
            if formats.allSatisfy(OutputSetting.greyHolders.contains) { insert(.greyProfile) }
        }
        switch output.metadata {
        case nil, .nothing: break
        case .copyright: insert(.rights)
        case .all: insert(.metadata)
        }
    }
}

/// What of EXIF, XMP and IPTC of its source a result has.
public enum MetadataChoice: Int, Hashable, Sendable, CaseIterable {
    /// Nothing; `none` on the command line, in keys and on the wire.
    case nothing = 0
    /// Who made it, and whose it is.
    case copyright = 1
    /// All of it, places too, but for the orientation, which has been applied, and the thumbnail.
    case all = 2
}

/// Which sources become a result as files, without a decoder and an encoder between
/// (SEMANTICS §11.37). Decided by the request; whether a file is one of them, its decoder sees.
public struct Passing: Hashable, Sendable {
    /// Formats of which a file is delivered whatever the steps are: places in
    /// `OutputOptions.passable`, as bits.
    public var formatBits: UInt32
    /// Whether the request asks for nothing that changes pixels or format, but for a reduction that
    /// leaves some images as they are, so that a file of any format is delivered.
    public var isUnchanged: Bool
    /// What of EXIF, XMP and IPTC the file keeps.
    public var metadata: MetadataChoice

    /// Describes it.
    public init(formats: [ImageFormat] = [], isUnchanged: Bool, metadata: MetadataChoice) {
        formatBits = OutputOptions.passable.enumerated().reduce(0) {
            formats.contains($1.element) ? $0 | 1 << $1.offset : $0
        }
        self.isUnchanged = isUnchanged
        self.metadata = metadata
    }

    /// `nil` where every source is decoded, or delivered as it came.
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

    /// Whether such a file is delivered.
    ///
    /// - Parameters:
    ///   - need: what the steps need of it; it passes unnamed only if they leave its size.
    ///   - keepsFrames: whether the request wants all frames of an animation.
    package func passes(_ file: ImageInfo, for need: DecodeNeed, keepsFrames: Bool) -> Bool {
        let isWhole = isUnchanged && (file.frames == 1 || keepsFrames) && need.leaves(file)
        guard isWhole || names(file.format) else { return false }
        return metadata == .all || Self.stripped.contains(file.format)
    }

    /// Whether it is named, so that steps do not count.
    package func names(_ format: ImageFormat) -> Bool {
        OutputOptions.passable.firstIndex(of: format).map { formatBits & 1 << $0 != 0 } ?? false
    }

    /// Whether an SVG of any size is delivered.
    package func passesDrawings(for need: DecodeNeed) -> Bool {
        names(.svg) || (isUnchanged && need.leavesDrawings)
    }

    /// Formats whose metadata is taken out without touching pixels. A drawing is a document, and
    /// has none that anybody reads.
    package static let stripped: [ImageFormat] = [.jpeg, .png, .webp, .gif, .svg]
}
