/// What is delivered instead of an image that cannot be loaded; never stored under its key
/// (PROTOCOL §8.7).
public enum Fallback: Hashable, Sendable {
    /// The error, whatever the configuration says.
    case none
    /// Another URL, loaded by a request of its own with none of the credentials.
    case url(String)
    /// An image of one colour, in the size of the result.
    case colour(Colour)
}

/// A colour: eight bits each, not premultiplied.
public struct Colour: Hashable, Sendable {
    /// `0xAARRGGBB`.
    public let argb: UInt32

    /// Takes `0xAARRGGBB`.
    public init(argb: UInt32) { self.argb = argb }

    /// Red, 0 to 255.
    public var red: UInt8 { UInt8(truncatingIfNeeded: argb >> 16) }
    /// Green, 0 to 255.
    public var green: UInt8 { UInt8(truncatingIfNeeded: argb >> 8) }
    /// Blue, 0 to 255.
    public var blue: UInt8 { UInt8(truncatingIfNeeded: argb) }
    /// Alpha, 0 to 255.
    public var alpha: UInt8 { UInt8(truncatingIfNeeded: argb >> 24) }
}

extension Colour: CustomStringConvertible {
    /// `AARRGGBB`
    public var description: String {
        let digits = String(argb, radix: 16, uppercase: true)
        return String(repeating: "0", count: 8 - digits.utf8.count) + digits
    }
}
