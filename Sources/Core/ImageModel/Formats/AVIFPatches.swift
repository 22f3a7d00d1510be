/// Bytes of an AVIF that a reader takes in place of those that are there, since libavif 0.11 reads
/// the boxes of some files in another way than their specification (ISO/IEC 23008-12).
package struct AVIFPatches {
    /// Tiles that get the places of others, and bytes of these places.
    private static let (movesMax, movedBytesMax) = (4_096, 1 << 20)

    /// Each at the offset of its first byte.
    package private(set) var all: [(offset: Int, bytes: [UInt8])] = []

    /// Those of a file, of which none is needed as a rule.
    ///
    /// - Parameter tracks: whether its tracks are to be read, or its primary image.
    package init(_ file: borrowing HeaderBytes, ofTracks tracks: Bool) {
        if tracks {
            disownTracks(file)
        } else {
            hideTracks(file)
            orderTiles(file)
        }
    }

    /// Of a file that says it is a sequence libavif reads no image where its tracks are damaged.
    private mutating func hideTracks(_ file: borrowing HeaderBytes) {
        for place in file.brandPlaces where file.has("avis", at: place) {
            all.append((place, Array("avif".utf8)))
        }
    }

    /// libavif takes any track that belongs to the frames for their alpha, such as one of depths.
    /// A track that belongs to one that is not there is none of theirs.
    private mutating func disownTracks(_ file: borrowing HeaderBytes) {
        for track in file.pictureTracks where !track.isAlpha {
            guard let owner = track.ownerPlace else { continue }
            all.append((owner, [UInt8](repeating: 0xFF, count: 4)))
        }
    }

    /// libavif takes the tiles of a grid in the order in which the file first names them, and not
    /// in that of the reference (6.6.2.3). Where these differ, tiles get the places of others.
    private mutating func orderTiles(_ file: borrowing HeaderBytes) {
        guard let meta = file.box(BoxType.meta, in: 0..<Int.max) else { return }
        let boxes = file.boxes(in: meta.dropFirst(HeaderBytes.versionBytes))
        guard let references = boxes.first(where: { $0.type == BoxType.itemReferences }),
            let locations = boxes.first(where: { $0.type == BoxType.itemLocations })
        else { return }
        let places = file.itemPlaces(locations.content)
        let named = places.map(\.item)
        var moved = 0
        for wanted in file.derivations(references.content) {
            let isWanted = Set(wanted)
            let taken = named.filter { isWanted.contains($0) }
            // A tile that is named twice has no place of its own.
            guard taken != wanted, taken.count == wanted.count, isWanted.count == wanted.count,
                Set(taken) == isWanted
            else { continue }
            let places = Dictionary(
                places.map { ($0.item, $0.range) }, uniquingKeysWith: { first, _ in first })
            let moves = zip(taken, wanted).compactMap { taken, wanted in
                places[taken].flatMap { to in places[wanted].map { (from: $0, to: to) } }
            }
            moved += moves.reduce(0) { $0 + $1.from.count }
            guard moves.allSatisfy({ $0.from.count == $0.to.count }),
                all.count + moves.count <= Self.movesMax, moved <= Self.movedBytesMax
            else { continue }
            move(file, moves)
        }
    }

    private mutating func move(
        _ file: borrowing HeaderBytes, _ moves: [(from: Range<Int>, to: Range<Int>)]
    ) {
        for (from, to) in moves where from != to {
            var bytes: [UInt8] = []
            for offset in from { bytes.append(file.byte(offset) ?? 0) }
            all.append((to.lowerBound, bytes))
        }
    }
}

extension HeaderBytes {
    /// Items, tiles of one and places of one at most.
    private static let itemsMax = 4_096

    /// The items that others are made of, in order, for each of these (ISO/IEC 23008-12, 6.4.7).
    fileprivate func derivations(_ references: Range<Int>) -> [[Int]] {
        guard let version = byte(references.lowerBound) else { return [] }
        let idBytes = version == 0 ? 2 : 4
        let found = boxes(in: references.dropFirst(Self.versionBytes))
        return found.filter { $0.type == BoxType.derivedFrom }.map { reference in
            let start = reference.content.lowerBound + idBytes
            let count = min(bigEndian(2, at: start) ?? 0, Self.itemsMax)
            return (0..<count).compactMap { bigEndian(idBytes, at: start + 2 + idBytes * $0) }
        }
    }

    /// Where a file says in which bytes each item lies (ISO/IEC 14496-12, 8.11.3), behind the
    /// number of the item; none where an entry cannot be.
    fileprivate func itemPlaces(_ locations: Range<Int>) -> [(item: Int, range: Range<Int>)] {
        let start = locations.lowerBound
        guard let version = byte(start), version <= 2, let sizes = bigEndian(2, at: start + 4)
        else { return [] }
        let idBytes = version == 2 ? 4 : 2
        let extentBytes =
            (sizes >> 12) + (sizes >> 8 & 15) + (version == 0 ? 0 : sizes & 15)
        let countPlace = (version == 0 ? 2 : 4) + (sizes >> 4 & 15)
        var offset = start + 6 + idBytes
        var places: [(item: Int, range: Range<Int>)] = []
        for _ in 0..<min(bigEndian(idBytes, at: start + 6) ?? 0, Self.itemsMax) {
            let body = offset + idBytes
            guard let item = bigEndian(idBytes, at: offset),
                let extents = bigEndian(2, at: body + countPlace)
            else { return [] }
            offset = body + countPlace + 2 + extents * extentBytes
            guard offset <= locations.upperBound, byte(offset - 1) != nil else { return [] }
            places.append((item, body..<offset))
        }
        return places
    }
}
