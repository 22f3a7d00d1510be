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
