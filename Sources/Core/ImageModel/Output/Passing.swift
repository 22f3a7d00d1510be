/// Which sources become a result as files, without a decoder and an encoder between
/// (SEMANTICS §11.37). Decided by the request; whether a file is one of them, its decoder sees.
public struct Passing: Hashable, Sendable {
    /// Formats of which a file is delivered whatever the steps are: places in
    /// `OutputOptions.passable`, as bits.
    public var formatBits: UInt32
    /// Whether the request asks for nothing that changes pixels or format, so that a file of any
    /// format is delivered.
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
        let isUnchanged =
            request.thumbnail == nil && request.steps.isEmpty && rest.isDefault
            && (metadata != .all || !passed.isEmpty)
        guard isUnchanged || !passed.isEmpty else { return nil }
        self.init(formats: passed, isUnchanged: isUnchanged, metadata: metadata ?? .all)
    }

    /// Whether a file of that format is delivered.
    ///
    /// - Parameters:
    ///   - isAnimation: whether it has several frames.
    ///   - keepsFrames: whether the request wants all of them.
    package func passes(_ format: ImageFormat, isAnimation: Bool, keepsFrames: Bool) -> Bool {
        guard names(format) || (isUnchanged && (!isAnimation || keepsFrames)) else { return false }
        return metadata == .all || Self.stripped.contains(format)
    }

    /// Whether it is named, so that steps do not count.
    package func names(_ format: ImageFormat) -> Bool {
        OutputOptions.passable.firstIndex(of: format).map { formatBits & 1 << $0 != 0 } ?? false
    }

    /// Whether an SVG is delivered.
    package var passesDrawings: Bool {
        passes(.svg, isAnimation: false, keepsFrames: false)
    }

    /// Formats whose metadata is taken out without touching pixels. A drawing is a document, and
    /// has none that anybody reads.
    package static let stripped: [ImageFormat] = [.jpeg, .png, .webp, .gif, .svg]
}
