import ImageModel

/// imgproxy's gravity: what of an image counts most.
struct ImgproxyGravity: Hashable, Sendable {
    /// What is asked for it.
    enum Use: Sendable {
        /// What is cut out.
        case cut
        /// Where an image lies on a larger canvas.
        case canvas
    }

    /// The place, or what is looked for.
    let gravity: Gravity
    /// How far the place is moved inwards; of the middle: to the right and down. Below 1 it is a
    /// part of the image.
    let x: Double
    /// See `x`.
    let y: Double
    /// As it was written.
    let word: String

    static let center = ImgproxyGravity(.center, "ce")

    private init(_ gravity: Gravity, _ word: String) {
        (self.gravity, self.word, x, y) = (gravity, word, 0, 0)
    }

    /// `TYPE:X:Y`, of which the last two may be left out unless the type is `fp`.
    init(_ said: OptionArguments, for use: Use) throws(GrammarError) {
        try said.atMost(3)
        word = try said.needed(said[0])
        if ["obj", "objw"].contains(word) {
            throw .notOffered(said.option, "objects are not looked for here: use another gravity")
        }
        let isFocus = word == "fp"
        let offsets = isFocus ? 0...1 : -Double(RequestSides.most)...Double(RequestSides.most)
        let (left, top) = (try said.decimal(1, in: offsets), try said.decimal(2, in: offsets))
        switch word {
        case "fp" where use == .cut:
            gravity = .point(x: try said.needed(left), y: try said.needed(top))
            (x, y) = (0, 0)
        case "sm" where use == .cut:
            try said.atMost(1)
            (gravity, x, y) = (.attention, 0, 0)
        case "fp":
            throw .notOffered(
                said.option, "a focus has no place on a canvas here: use ce, no, noea, …")
        default:
            guard let place = Self.places[word] else {
                throw .malformed(
                    said.option,
                    "\(said.shown(word)) is no gravity: use ce, no, so, ea, we, noea, nowe, soea, "
                        + "sowe" + (use == .cut ? ", sm or fp:X:Y" : ""))
            }
            (gravity, x, y) = (place, left ?? 0, top ?? 0)
        }
    }

    /// Places by imgproxy's words.
    static let places: [String: Gravity] = [
        "ce": .center, "no": .point(x: 0.5, y: 0), "so": .point(x: 0.5, y: 1),
        "ea": .point(x: 1, y: 0.5), "we": .point(x: 0, y: 0.5), "noea": .point(x: 1, y: 0),
        "nowe": .point(x: 0, y: 0), "soea": .point(x: 1, y: 1), "sowe": .point(x: 0, y: 1),
    ]

    /// Whether it is moved.
    var isMoved: Bool { x != 0 || y != 0 }

    /// The gravity, which no step moves.
    func unmoved(of option: String) throws(GrammarError) -> Gravity {
        guard !isMoved else {
            throw .notOffered(option, "a gravity with offsets is not done here: leave them out")
        }
        return gravity
    }
}

/// What `extend` says.
struct ImgproxyExtend: Hashable, Sendable {
    let option: String
    let isWanted: Bool
    let gravity: ImgproxyGravity

    /// `EXTEND:GRAVITY…`
    init(_ said: OptionArguments) throws(GrammarError) {
        option = said.option
        isWanted = try said.needed(said.flag(0))
        let rest = said.dropFirst(1)
        gravity = rest[0] == nil ? .center : try ImgproxyGravity(rest, for: .canvas)
        if rest[0] == nil { try said.atMost(4) }
    }
}

/// Sides as URLs may say them.
enum RequestSides {
    static let most = RequestLimits.sideMax
}
