extension PixelSize {
    /// `512x418`: two whole numbers from 1 to `RequestLimits.sideMax`; `nil` for anything else.
    public init?(_ text: String) {
        let parts = text.split(separator: "x", omittingEmptySubsequences: false)
            .map { PlainNumber.integer($0) }
        let sides = 1...RequestLimits.sideMax
        guard parts.count == 2, let width = parts[0], let height = parts[1],
            sides.contains(width), sides.contains(height)
        else { return nil }
        self.init(width: width, height: height)
    }

    /// The box of a resize: the same, or `512x` and `x418`, of which the side that is left out is
    /// open: 0.
    public init?(box text: String) {
        if text.utf8.last == UInt8(ascii: "x") {
            self.init("\(text)1")
            height = 0
        } else if text.utf8.first == UInt8(ascii: "x") {
            self.init("1\(text)")
            width = 0
        } else {
            self.init(text)
        }
    }
}

extension PixelRect {
    /// `10,20,300,200`: left, top, width, height; `nil` for anything else.
    public init?(_ text: String) {
        let texts = text.split(separator: ",", omittingEmptySubsequences: false)
        let parts = texts.compactMap { PlainNumber.integer($0) }
        let places = -RequestLimits.sideMax...RequestLimits.sideMax
        guard texts.count == 4, parts.count == 4, parts.allSatisfy(places.contains),
            parts[2] > 0, parts[3] > 0
        else { return nil }
        self.init(x: parts[0], y: parts[1], size: PixelSize(width: parts[2], height: parts[3]))
    }
}
