/// Corners of an image. The raw values are SDWebImage's.
public struct Corners: OptionSet, Hashable, Sendable {
    /// A bit for each.
    public let rawValue: UInt8

    /// Takes any bits; others than those of the four corners are refused with the request.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Left, above.
    public static let topLeft = Corners(rawValue: 1)
    /// Right, above.
    public static let topRight = Corners(rawValue: 2)
    /// Left, below.
    public static let bottomLeft = Corners(rawValue: 4)
    /// Right, below.
    public static let bottomRight = Corners(rawValue: 8)
    /// All four.
    public static let all: Corners = [.topLeft, .topRight, .bottomLeft, .bottomRight]

    private static let words: [(name: String, corner: Corners)] = [
        ("tl", .topLeft), ("tr", .topRight), ("bl", .bottomLeft), ("br", .bottomRight),
    ]

    static let expected = "all, or some of tl, tr, bl and br, such as tl+tr"

    /// `all`, or words with `+` between them; `nil` for anything else.
    public init?(_ text: String) {
        guard text != "all" else {
            self = .all
            return
        }
        var corners: Corners = []
        for part in text.split(separator: "+", omittingEmptySubsequences: false) {
            guard let word = Self.words.first(where: { $0.name == part }),
                corners.insert(word.corner).inserted
            else { return nil }
        }
        self = corners
    }

    var isPermitted: Bool { !isEmpty && Corners.all.isSuperset(of: self) }

    /// All of them are all bits of a word, as upstream's constant.
    var keyText: String { self == .all ? "\(UInt64.max)" : "\(rawValue)" }
}

extension Corners: CustomStringConvertible {
    /// What `init` takes.
    public var description: String {
        guard self != .all else { return "all" }
        return Self.words.filter { contains($0.corner) }.map(\.name).joined(separator: "+")
    }
}
