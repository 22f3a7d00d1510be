import ImageModel

/// What the filter `focal` says: a rectangle of the source, `LEFTxTOP:RIGHTxBOTTOM`.
struct ThumborFocus: Hashable {
    /// Its middle, in pixels of the source.
    let x: Double
    let y: Double
    /// Its pixels: what is larger counts more.
    let weight: Double

    init(_ said: OptionArguments) throws(GrammarError) {
        try said.atMost(1)
        let corners = try said.needed(said[0]).split(":")
        let numbers = OptionArguments(said.option, corners.flatMap { $0.split("x") })
        guard corners.count == 2, numbers.values.count == 4 else {
            throw .malformed(said.option, "use LEFTxTOP:RIGHTxBOTTOM in pixels of the source")
        }
        guard !numbers.values.contains(where: { $0.contains(".") }) else {
            throw .notOffered(said.option, "parts of the image are no focus here: use pixels")
        }
        var sides: [Int] = []
        for place in 0..<4 {
            sides.append(try numbers.needed(numbers.whole(place, in: 0...RequestSides.most)))
        }
        guard sides[2] > sides[0], sides[3] > sides[1] else {
            throw .malformed(
                said.option, "the second corner is right of the first one and below it")
        }
        x = Double(sides[0]) + ((Double(sides[2]) - Double(sides[0])) / 2)
        y = Double(sides[1]) + ((Double(sides[3]) - Double(sides[1])) / 2)
        weight = Double(sides[2] - sides[0]) * Double(sides[3] - sides[1])
    }

    /// The middle of several, in pixels of a part of the source; those beside it do not count, and
    /// `nil` is where none does.
    static func middle(of foci: [ThumborFocus], in crop: PixelRect?) -> (x: Double, y: Double)? {
        guard let crop else { return mean(foci, from: (0, 0)) }
        let (left, top) = (Double(crop.x), Double(crop.y))
        let across = left...left + Double(crop.size.width)
        let down = top...top + Double(crop.size.height)
        return mean(foci.filter { across.contains($0.x) && down.contains($0.y) }, from: (left, top))
    }

    private static func mean(
        _ foci: [ThumborFocus], from origin: (x: Double, y: Double)
    ) -> (x: Double, y: Double)? {
        let weight = foci.reduce(0) { $0 + $1.weight }
        guard weight > 0 else { return nil }
        return (
            foci.reduce(0) { $0 + $1.x * $1.weight } / weight - origin.x,
            foci.reduce(0) { $0 + $1.y * $1.weight } / weight - origin.y
        )
    }
}
