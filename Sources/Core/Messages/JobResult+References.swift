extension JobResult {
    /// The blocks that this result hands over, in order.
    public var references: ShortList<BlockReference> {
        switch self {
        case .fetched(let body): ShortList(body.reference)
        case .hit(let hit): ShortList(hit.reference)
        case .stored(let report): ShortList(report.delivered)
        case .decoded(let image):
            image.file.map { ShortList($0) }
                ?? ShortList(contentsOf: image.frames.lazy.map(\.reference))
        case .transformed(let image): ShortList(image.reference)
        case .miss, .entry, .entries, .validity, .failed: ShortList()
        }
    }

    /// The same result with these references in place of its own, as many as it has.
    public func with(_ references: ShortList<BlockReference>) -> JobResult {
        guard let first = references.first else { return self }
        switch self {
        case .fetched(var body):
            body.reference = first
            return .fetched(body)
        case .hit(var hit):
            hit.reference = first
            return .hit(hit)
        case .stored(var report):
            report.delivered = first
            return .stored(report)
        case .decoded(var image) where image.file != nil:
            image.file = first
            return .decoded(image)
        case .decoded(var image):
            for index in references.indices { image.frames[index].reference = references[index] }
            return .decoded(image)
        case .transformed(var image):
            image.reference = first
            return .transformed(image)
        case .miss, .entry, .entries, .validity, .failed: return self
        }
    }
}
