extension Colour {
    /// `#AARRGGBB` or, opaque, `#RRGGBB`; `nil` for anything else.
    public init?(_ text: String) {
        let digits = text.dropFirst()
        // A sign is no digit, though `UInt32` takes one.
        guard text.utf8.first == UInt8(ascii: "#"), [6, 8].contains(digits.utf8.count),
            digits.first != "+", digits.first != "-", let number = UInt32(digits, radix: 16)
        else { return nil }
        self.init(argb: digits.utf8.count == 6 ? 0xFF00_0000 | number : number)
    }

    /// `#aarrggbb`, as upstream writes it in keys.
    package var hexText: String { "#\(description.lowercased())" }

    /// Nothing to be seen.
    public static let clear = Colour(argb: 0)
    /// Opaque white.
    public static let white = Colour(argb: 0xFFFF_FFFF)
}
