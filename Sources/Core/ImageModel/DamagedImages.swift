/// What becomes of an image whose pixels are damaged or incomplete (SEMANTICS §11.38).
public enum DamagedImages: Int, Hashable, Sendable, CaseIterable {
    /// The load fails with `badImageData`.
    case refuse = 0
    /// The pixels that are there are shown, and the reply says so.
    case show = 1

    /// The word for it in options, files and URLs.
    public var name: String {
        switch self {
        case .refuse: "refuse"
        case .show: "show"
        }
    }

    /// `nil` for any other word.
    public init?(name: String) {
        guard let choice = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = choice
    }
}
