import Dispatching
import ImageModel
import Messages

/// A result of which workers of somebody else do a part, steps or the encode: a row of links, each
/// of which one worker does. Between two links there are pixels as they are, PAM, as shown.
///
///     ours: the steps before ──► theirs: one step ──► ours: the steps after, and the encode
///                                                 └──► theirs: the encode
///
/// Theirs may follow each other. The first link is ours, also where it has no steps: whatever was
/// decoded becomes PAM. So is the last one, unless a pool of theirs is granted the format.
struct StepChain: Sendable {
    private enum Link: Sendable {
        case ours(Range<Int>)
        case step(Int)
        case encode

        var steps: Range<Int> {
            switch self {
            case .ours(let range): range
            case .step(let place): place..<place + 1
            case .encode: 0..<0
            }
        }
    }

    /// What the pixels of the first link were made of.
    let source: ImageInfo
    private let links: [Link]
    /// The link that is done now.
    private var index = 0
    /// What the link before made; the job of this one holds it.
    private(set) var carried: BlockHandle?

    /// `encodesElsewhere`: somebody else encodes it. `nil` where all of it is ours.
    init?(_ steps: [TransformStep], of source: ImageInfo, encodesElsewhere: Bool) {
        let customs = steps.indices.filter { steps[$0].isCustom }
        guard encodesElsewhere || !customs.isEmpty else { return nil }
        var links: [Link] = []
        var begin = 0
        for place in customs {
            if begin < place || links.isEmpty { links.append(.ours(begin..<place)) }
            links.append(.step(place))
            begin = place + 1
        }
        let isNeeded = begin < steps.count || links.isEmpty || !encodesElsewhere
        if isNeeded { links.append(.ours(begin..<steps.count)) }
        if encodesElsewhere { links.append(.encode) }
        self.links = links
        self.source = source
    }

    /// Whether what is made now is the result.
    var isLast: Bool { index == links.count - 1 }

    /// Whether workers of somebody else do what is done now.
    var isForeign: Bool {
        if case .ours = links[index] { false } else { true }
    }

    /// The link is done; it made that.
    mutating func goOn(with carried: BlockHandle) {
        index += 1
        self.carried = carried
    }

    /// What the link lays over its pixels, of what all of these steps do.
    func own(_ overlays: [DecodeNode.Pixels], of steps: [TransformStep]) -> [DecodeNode.Pixels] {
        guard !overlays.isEmpty else { return [] }
        let isOverlay = { (step: TransformStep) in
            if case .overlay = step { true } else { false }
        }
        let range = links[index].steps
        let before = steps[..<range.lowerBound].count(where: isOverlay)
        let own = steps[range].count(where: isOverlay)
        return Array(overlays.dropFirst(before).prefix(own))
    }

    /// What the link does of the steps and of the encode of all.
    func link(of whole: TransformWork) -> TransformWork {
        var work = whole
        work.steps = Array(whole.steps[links[index].steps])
        if !isLast { work.output = OutputOptions(format: .pam) }
        return work
    }
}
