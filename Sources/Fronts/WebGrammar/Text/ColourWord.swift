import ImageModel

/// Colours as URLs have them: hexadecimal digits without `#`, which would begin a fragment.
enum ColourWord {
    /// `rgb` or `rrggbb`, opaque; `nil` for other texts.
    static func hexadecimal(_ text: String) -> Colour? {
        switch text.utf8.count {
        case 3: Colour("#" + text.map { "\($0)\($0)" }.joined())
        case 6: Colour("#" + text)
        default: nil
        }
    }

    /// The same, or one of HTML's sixteen names (CSS Color Module Level 4, basic colours), or
    /// `transparent`.
    static func named(_ text: String) -> Colour? {
        let word = text.lowercased()
        return names[word].map { Colour(argb: $0) } ?? hexadecimal(word)
    }

    private static let names: [String: UInt32] = [
        "transparent": 0, "black": 0xFF00_0000, "silver": 0xFFC0_C0C0, "gray": 0xFF80_8080,
        "grey": 0xFF80_8080, "white": 0xFFFF_FFFF, "maroon": 0xFF80_0000, "red": 0xFFFF_0000,
        "purple": 0xFF80_0080, "fuchsia": 0xFFFF_00FF, "green": 0xFF00_8000,
        "lime": 0xFF00_FF00, "olive": 0xFF80_8000, "yellow": 0xFFFF_FF00, "navy": 0xFF00_0080,
        "blue": 0xFF00_00FF, "teal": 0xFF00_8080, "aqua": 0xFF00_FFFF,
    ]
}
