/// The revision of the pipeline that makes results: how pixels, colors and metadata come to be in
/// them.
///
/// It grows with every change after which an older result would be wrong, such as one that had
/// metadata which is left out today. Entries of an older one are regenerated (SEMANTICS §5.27).
public enum PipelineRevision {
    /// That of this version; 0 is of versions that did not count.
    public static let current: UInt16 = 2
    /// What one may be.
    package static let range: ClosedRange<UInt16> = 0...4_095
}

extension CacheKey {
    /// Whether a result may lie under this text, rather than a source as it came: each suffix of a
    /// result has arguments in parentheses (SEMANTICS §4.4). A URL may have such, too: then its
    /// bytes of an older revision are fetched once more, and that is all.
    package static func mayBeDerived(_ text: String) -> Bool {
        text.hasByte { $0 == UInt8(ascii: "(") }
    }
}
