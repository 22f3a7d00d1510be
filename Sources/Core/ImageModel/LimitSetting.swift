/// A limit of images that an operator sets: for all of them by an option of `serve`, for some by
/// profiles and rules of the configuration, which make it narrower (SEMANTICS §9.8). One word names
/// it in all these places, and in errors.
public enum LimitSetting: String, Hashable, Sendable, CaseIterable {
    /// Columns × rows of an image, or of each frame, as it is decoded.
    case pixels = "pixel-limit"
    /// Columns or rows of what is decoded.
    case side = "side-limit"
    /// Bytes of a fetched or uploaded body.
    case body = "body-limit"
    /// Pages or frames of a file.
    case pages = "page-limit"
    /// Bytes of profile, EXIF, XMP and other texts of a file.
    case metadata = "metadata-limit"

    /// What it may be. A decoder holds to the upper end whatever it is told.
    public var range: ClosedRange<Int> {
        switch self {
        case .pixels: 1...RequestLimits.pixelsMax
        case .side: 1...65_535
        case .body: 1...256 << 20
        case .pages: 1...100_000
        case .metadata: 1...64 << 20
        }
    }

    /// Whether it counts bytes, so that K, M and G are multiples of 1,024.
    public var countsBytes: Bool {
        switch self {
        case .body, .metadata: true
        case .pixels, .side, .pages: false
        }
    }

    /// The value of a text: a whole number, also with K, M or G behind it, in the range; `nil` for
    /// anything else.
    public func value(of text: String) -> Int? {
        guard let value = PlainNumber.scaled(text, by: countsBytes ? 1_024 : 1_000) else {
            return nil
        }
        return range.contains(value) ? value : nil
    }

    /// What a text of it is, for errors.
    public var expected: String {
        "a number\(countsBytes ? " of bytes" : "") from 1 to \(range.upperBound), such as "
            + (self == .side || self == .pages ? "10000" : "50M")
    }
}
