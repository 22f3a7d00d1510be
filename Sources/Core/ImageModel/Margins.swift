/// So many pixels at each edge of an image, 0 to `RequestLimits.sideMax`.
public struct Margins: Hashable, Sendable {
    /// At the left edge, and so on.
    public var left, top, right, bottom: Int

    /// Margins of so many pixels each.
    public init(left: Int = 0, top: Int = 0, right: Int = 0, bottom: Int = 0) {
        (self.left, self.top, self.right, self.bottom) = (left, top, right, bottom)
    }

    /// The size of an image with them, whose sides are below 2³¹; `nil` where they are beyond their
    /// limits.
    package func size(around size: PixelSize) -> PixelSize? {
        guard [left, top, right, bottom].allSatisfy(Self.sides.contains) else { return nil }
        return PixelSize(width: left + size.width + right, height: top + size.height + bottom)
    }

    static let sides = 0...RequestLimits.sideMax
}

/// What margins show.
public enum MarginFill: Hashable, Sendable {
    /// One colour.
    case colour(Colour)
    /// Each pixel of the edge again and again.
    case copy
    /// The image again and again.
    case `repeat`
    /// The same, each time as seen in a mirror at the edge.
    case mirror

    /// The words for those that are no colour.
    private static let words: [(name: String, fill: MarginFill)] = [
        ("copy", .copy), ("repeat", .repeat), ("mirror", .mirror),
    ]

    /// What an error says of it.
    static let expected =
        "#RRGGBB, #AARRGGBB or one of " + words.map(\.name).joined(separator: ", ")
}

extension MarginFill: CustomStringConvertible {
    /// A word or a colour; `nil` for other texts.
    init?(_ text: String) {
        if let word = Self.words.first(where: { $0.name == text }) {
            self = word.fill
        } else {
            guard let colour = Colour(text) else { return nil }
            self = .colour(colour)
        }
    }

    /// As it is written.
    public var description: String {
        if case .colour(let colour) = self { return colour.hexText }
        return Self.words.first { $0.fill == self }?.name ?? ""
    }
}
