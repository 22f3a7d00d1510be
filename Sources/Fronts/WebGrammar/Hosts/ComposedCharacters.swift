/// Letters with marks as one scalar, where there is one (normalization form C, as far as it
/// concerns the scripts below).
///
/// Swift compares characters by canonical equivalence: a dictionary of composed characters finds
/// them by their parts.
enum ComposedCharacters {
    /// The same text, composed.
    static func compose(_ text: some StringProtocol) -> String {
        var composed = String.UnicodeScalarView()
        for character in text {
            if character.unicodeScalars.count > 1, let scalar = scalars[character] {
                composed.append(scalar)
            } else {
                composed.append(contentsOf: character.unicodeScalars)
            }
        }
        return String(composed)
    }

    /// Whether it is a part of a Hangul syllable, which is written as a whole.
    static func isConjoining(_ scalar: Unicode.Scalar) -> Bool {
        [0x1100...0x11FF, 0xA960...0xA97F, 0xD7B0...0xD7FF].contains { $0.contains(scalar.value) }
    }

    /// Latin, Greek, Cyrillic, Arabic and Kana.
    private static let blocks: [ClosedRange<UInt32>] = [
        0xC0...0x24F, 0x370...0x52F, 0x620...0x6D5, 0x1E00...0x1FFF, 0x3040...0x30FF,
    ]

    /// Composed characters by themselves. Of equivalent ones the first, which is the composed one.
    private static let scalars: [Character: Unicode.Scalar] = {
        var scalars: [Character: Unicode.Scalar] = [:]
        for scalar in blocks.joined().compactMap(Unicode.Scalar.init) {
            let character = Character(scalar)
            if scalars[character] == nil { scalars[character] = scalar }
        }
        return scalars
    }()
}
