import Dispatching
import ImageModel
import Messages

/// The steps of a result of which workers of somebody else do some: a row of links, each of which
/// one worker does. Between two links there are pixels as they are, PAM, as shown.
///
///     ours: the steps before ──► theirs: one step ──► ours: the steps after, and the encode
///
/// Theirs may follow each other. The first link and the last one are ours, also where they have no
/// steps: whatever was decoded becomes PAM, and what clients get was encoded here.
struct StepChain: Sendable {
    /// What the pixels of the first link were made of.
    let source: ImageInfo
    /// The steps of each link.
    private let links: [Range<Int>]
    /// The link that is done now.
    private var index = 0
    /// What the link before made; the job of this one holds it.
    private(set) var carried: BlockHandle?

    /// `nil` where all steps are ours.
    init?(_ steps: [TransformStep], of source: ImageInfo) {
        let customs = steps.indices.filter { steps[$0].isCustom }
        guard !customs.isEmpty else { return nil }
        var links: [Range<Int>] = []
        var begin = 0
        for place in customs {
            if begin < place || links.isEmpty { links.append(begin..<place) }
            links.append(place..<place + 1)
            begin = place + 1
        }
        links.append(begin..<steps.count)
        self.links = links
        self.source = source
    }

    /// Whether what is made now is the result.
    var isLast: Bool { index == links.count - 1 }

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
        let before = steps[..<links[index].lowerBound].count(where: isOverlay)
        let own = steps[links[index]].count(where: isOverlay)
        return Array(overlays.dropFirst(before).prefix(own))
    }

    /// What the link does of the steps and of the encode of all.
    func link(of whole: TransformWork) -> TransformWork {
        var work = whole
        work.steps = Array(whole.steps[links[index]])
        if !isLast { work.output = OutputOptions(format: .pam) }
        return work
    }
}
