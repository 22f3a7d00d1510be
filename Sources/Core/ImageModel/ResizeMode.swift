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
    /// The smallest size of the image's ratio that covers the box; nothing is cut off.
    case cover = 4
    /// `cover` where both the image and the box are at least as wide as high, or neither is, else
    /// `fit`; never enlarged.
    case auto = 5
    /// `fit` in the box, which is turned where it stands and the image lies, or the other way.
    case fitTurned = 6
    /// `cover` of the box, turned in the same way.
    case coverTurned = 7
    /// The ratio of the box, whatever that of the image is; where the image is smaller, the
    /// largest size of that ratio that lies in it.
    case reshape = 8

    /// Whether a smaller image becomes larger, unless a resize says something else.
    public var enlarges: Bool {
        switch self {
        case .stretch, .letterbox, .fill, .cover, .coverTurned: true
        case .fit, .auto, .fitTurned, .reshape: false
        }
    }

    /// Whether the image keeps its ratio.
    var keepsRatio: Bool { self != .stretch && self != .reshape }
}
