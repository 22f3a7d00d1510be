/// What the samples of pixels are: how many bits of them say something, and in which colours.
public struct SampleForm: Hashable, Sendable {
    /// 8, or up to 16. More than 8 take two bytes, in the machine's order, and use all of these:
    /// 65,535 is a sample of 1.
    public var bits: Int
    /// Colours of a high dynamic range; `nil`: sRGB or grey, or what a profile beside them says.
    public var hdr: HDRColours?

    /// Describes samples.
    public init(bits: Int = 8, hdr: HDRColours? = nil) {
        (self.bits, self.hdr) = (bits, hdr)
    }

    /// 8 bits of sRGB or grey.
    public static let usual = SampleForm()

    /// What `bits` may be.
    public static let bitsRange = 8...16

    /// Whether there are more than 8 bits.
    public var isDeep: Bool { bits > 8 }

    /// Bytes that a sample takes.
    public var bytes: Int { isDeep ? 2 : 1 }

    /// Whether there may be such: a high dynamic range needs more than 8 bits.
    package var isPossible: Bool {
        Self.bitsRange.contains(bits) && (hdr == nil || isDeep)
    }
}
