import ImageModel

/// What `watermark` says: `OPACITY:POSITION:X:Y:SCALE`.
struct ImgproxyWatermark: Hashable, Sendable {
    let option: String
    let opacity: Double
    let word: String
    let x: Double
    let y: Double
    /// Of the image; 0: its own size.
    let scale: Double

    init(_ said: OptionArguments) throws(GrammarError) {
        try said.atMost(5)
        option = said.option
        opacity = try said.needed(said.decimal(0, in: 0...1))
        word = said[1] ?? "ce"
        let offsets = -Double(RequestSides.most)...Double(RequestSides.most)
        x = try said.decimal(2, in: offsets) ?? 0
        y = try said.decimal(3, in: offsets) ?? 0
        scale = try said.decimal(4, in: 0...100) ?? 0
        if word == "ch" {
            throw .notOffered(option, "a chessboard of watermarks is not laid here: use re")
        }
        guard word == "re" || ImgproxyGravity.places[word] != nil else {
            throw .malformed(
                option,
                "\(said.shown(word)) is no position: use ce, no, so, ea, we, noea, nowe, soea, "
                    + "sowe or re")
        }
    }

    /// The step; `nil` where nothing of it is seen.
    func step(
        of settings: ImgproxyGrammar.Settings, ratio: Double
    ) throws(GrammarError) -> TransformStep? {
        guard opacity > 0 else { return nil }
        guard let url = settings.watermark else {
            throw .notOffered(option, "this server has no watermark: leave it out")
        }
        guard scale <= 1 else {
            throw .notOffered(option, "a watermark is at most as large as the image: scale 0 to 1")
        }
        let isTiled = word == "re"
        guard !isTiled || (x == 0 && y == 0) else {
            throw .notOffered(option, "tiles lie side by side here: leave the offsets out")
        }
        let side = RelativeSize.Side.percent(scale * 100)
        return .overlay(
            Overlay(
                url: url, x: pixels(x, ratio), y: pixels(y, ratio),
                opacity: opacity * settings.watermarkOpacity,
                gravity: isTiled ? nil : place,
                size: scale > 0 ? RelativeSize(width: side, height: side) : nil,
                repeats: isTiled))
    }

    /// Its place, moved by what is a part of the image.
    private var place: Gravity? {
        func side(_ offset: Double) -> RelativeSize.Side {
            abs(offset) < 1 ? .percent(offset * 100) : .pixels(0)
        }
        guard let place = ImgproxyGravity.places[word] else { return nil }
        let by = GravityOffset(x: side(x), y: side(y))
        let isMoved = [by.x, by.y].contains { $0 != .pixels(0) && $0 != .percent(0) }
        guard isMoved, case .point(let across, let down) = place else { return place }
        return .moved(x: across, y: down, by: by)
    }

    /// What it is moved by besides.
    private func pixels(_ offset: Double, _ ratio: Double) -> Int {
        abs(offset) < 1 ? 0 : Int((offset * ratio).rounded(.toNearestOrEven))
    }
}
