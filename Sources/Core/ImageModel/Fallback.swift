/// What is delivered instead of an image that cannot be loaded; never stored under its key
/// (DESIGN §7).
public enum Fallback: Hashable, Sendable {
    /// The error, whatever the configuration says.
    case none
    /// Another URL, loaded by a request of its own with none of the credentials.
    case url(String)
    /// A picture of one colour, in the size of the result.
    case colour(Colour)
}

/// A colour: eight bits each, not premultiplied.
public struct Colour: Hashable, Sendable {
    /// `0xAARRGGBB`.
    public let argb: UInt32

    /// Takes `0xAARRGGBB`.
    public init(argb: UInt32) { self.argb = argb }
}
