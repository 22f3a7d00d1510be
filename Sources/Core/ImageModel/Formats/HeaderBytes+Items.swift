extension HeaderBytes {
    /// Bytes in which a HEIF file says what its items are, in all. libavif 0.11 looks for an item
    /// among all of them for each entry, so that its time grows with the square of their number.
    private static let itemBytesMax = 128 << 10

    /// Whether its items are no more than those of a grid of some thousand tiles. One with more
    /// boxes than are looked at has too many.
    package var hasFewItems: Bool {
        let tracks = box(BoxType.movie, in: 0..<Int.max).map { boxes(in: $0) } ?? []
        let places = [0..<Int.max] + tracks.filter { $0.type == BoxType.track }.map(\.content)
        var bytes = 0
        for place in places {
            for meta in boxes(in: place) where meta.type == BoxType.meta {
                let parts = boxes(in: meta.content.dropFirst(Self.versionBytes))
                guard parts.count < Self.partsMax else { return false }
                for part in parts { bytes += itemBytes(part) }
            }
        }
        return tracks.count < Self.partsMax && bytes <= Self.itemBytesMax
    }

    private func itemBytes(_ part: Box) -> Int {
        switch part.type {
        case BoxType.itemInformation, BoxType.itemLocations, BoxType.itemReferences:
            part.content.count
        case BoxType.itemProperties:
            boxes(in: part.content).filter { $0.type == BoxType.propertyAssociation }
                .reduce(0) { $0 + $1.content.count }
        default: 0
        }
    }
}
