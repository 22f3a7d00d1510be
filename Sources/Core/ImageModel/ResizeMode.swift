/// How a resize fills its box (SEMANTICS §11.8). The raw values of the first three are
/// SDWebImage's.
public enum ResizeMode: UInt8, Hashable, Sendable, CaseIterable {
    /// Exactly the box; the ratio changes. Upstream's Fill.
    case stretch = 0
    /// Exactly the box; the whole image centred in transparent margins. Upstream's AspectFit.
    case letterbox = 1
    /// Exactly the box; what sticks out is cut off evenly. Upstream's AspectFill.
    case fill = 2
    /// Inside the box, the ratio kept, no margins, never enlarged. Ours.
    case fit = 3

    /// Whether a smaller image becomes larger, unless a resize says something else.
    public var enlarges: Bool { self != .fit }
}
