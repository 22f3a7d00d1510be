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
        case "fp":
            gravity = .point(x: try said.needed(left), y: try said.needed(top))
            (x, y) = (0, 0)
        case "sm" where use == .cut:
            try said.atMost(1)
            (gravity, x, y) = (.attention, 0, 0)
        default:
            guard let place = Self.places[word] else {
                throw .malformed(
                    said.option,
                    "\(said.shown(word)) is no gravity: use ce, no, so, ea, we, noea, nowe, soea, "
                        + "sowe, " + (use == .cut ? "sm or fp:X:Y" : "or fp:X:Y"))
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

    /// The gravity of a cut, moved by so many times its pixels.
    func cut(_ ratio: Double = 1) -> Gravity {
        guard x != 0 || y != 0, case .point(let across, let down) = gravity else {
            return gravity
        }
        return .moved(
            x: across, y: down, by: GravityOffset(x: side(x, ratio), y: side(y, ratio)))
    }

    /// The same on a canvas of pixels, in which a focus is the place of the middle of the image.
    func place(on canvas: PixelSize, _ ratio: Double) -> Gravity {
        guard word == "fp", case .point(let across, let down) = gravity else {
            return cut(ratio)
        }
        return .pixel(x: across * Double(canvas.width), y: down * Double(canvas.height))
    }

    private func side(_ said: Double, _ ratio: Double) -> RelativeSize.Side {
        let most = Double(RequestSides.most)
        return abs(said) < 1
            ? .percent(said * 100)
            : .pixels(Int(min(max(-most, said * ratio), most).rounded(.toNearestOrEven)))
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
