import ImageModel

/// What the filter `watermark` says: `URL,X,Y,ALPHA[,WIDTH[,HEIGHT]]`.
struct ThumborWatermark {
    let overlay: Overlay

    /// One of the two numbers of its place.
    private enum Place: Equatable {
        case start(Int)
        case end(Int)
        /// So many hundredths of the image in from the start, or from the end.
        case part(Double, isEnd: Bool)
        case middle
        case everywhere
    }

    init(_ said: OptionArguments) throws(GrammarError) {
        try said.atMost(6)
        let url = try said.needed(said[0])
        let (x, y) = (try Self.place(said, 1), try Self.place(said, 2))
        let alpha = try said.needed(said.whole(3, in: 0...100))
        let size = try Self.size(said)
        let isTiled = x == .everywhere
        guard isTiled == (y == .everywhere) else {
            throw .notOffered(said.option, "tiles lie in both directions here: use repeat twice")
        }
        overlay = Overlay(
            url: try Self.address(url, said), x: Self.offset(x), y: Self.offset(y),
            opacity: Double(100 - alpha) / 100,
            gravity: isTiled ? nil : Self.gravity(x, y),
            size: size, repeats: isTiled)
    }

    /// Its URL, whose scheme may be missing, as that of sources.
    private static func address(
        _ url: String, _ said: OptionArguments
    ) throws(GrammarError) -> String {
        let whole = url.contains("://") ? url : "http://\(url)"
        do throws(GrammarError) {
            return try SourceSchemes(["http", "https"]).url(Array(whole.utf8))
        } catch {
            throw .malformed(said.option, error.message)
        }
    }

    private static func place(_ said: OptionArguments, _ index: Int) throws(GrammarError) -> Place {
        let text = try said.needed(said[index])
        switch text {
        case "center": return .middle
        case "repeat": return .everywhere
        default: break
        }
        if text.last == "p" {
            let part = OptionArguments(said.option, [String(text.dropLast())])
            let hundredths = try part.needed(part.whole(0, in: -100...100))
            return .part(Double(abs(hundredths)), isEnd: text.hasPrefix("-"))
        }
        let range = -RequestSides.most...RequestSides.most
        let number = try said.needed(said.whole(index, in: range))
        return text.hasPrefix("-") ? .end(-number) : .start(number)
    }

    private static func offset(_ place: Place) -> Int {
        switch place {
        case .start(let pixels), .end(let pixels): pixels
        case .part, .middle, .everywhere: 0
        }
    }

    /// Its place, moved by what is a part of the image.
    private static func gravity(_ x: Place, _ y: Place) -> Gravity {
        func side(_ place: Place) -> RelativeSize.Side {
            if case .part(let part, _) = place { .percent(part) } else { .pixels(0) }
        }
        let by = GravityOffset(x: side(x), y: side(y))
        guard by.x != .pixels(0) || by.y != .pixels(0) else {
            return .point(x: fraction(x), y: fraction(y))
        }
        return .moved(x: fraction(x), y: fraction(y), by: by)
    }

    private static func fraction(_ place: Place) -> Double {
        switch place {
        case .part(_, let isEnd): isEnd ? 1 : 0
        case .start, .everywhere: 0
        case .middle: 0.5
        case .end: 1
        }
    }

    /// A box in hundredths of the image; a side that is not said is all of it.
    private static func size(_ said: OptionArguments) throws(GrammarError) -> RelativeSize? {
        var sides: [RelativeSize.Side?] = []
        for index in 4...5 {
            guard let text = said[index], text != "none", text != "0" else {
                sides.append(nil)
                continue
            }
            let number = try said.needed(said.whole(index, in: 1...100))
            sides.append(.percent(Double(number)))
        }
        guard sides[0] != nil || sides[1] != nil else { return nil }
        return RelativeSize(width: sides[0] ?? .percent(100), height: sides[1] ?? .percent(100))
    }
}
