import ImageModel

/// The part of an image that is wanted (IIIF Image API 3.0, section 4.1).
enum IIIFRegion: Hashable {
    case full
    case square
    case pixels(PixelRect)
    /// In hundredths of the sides.
    case percent(x: Double, y: Double, width: Double, height: Double)

    init(_ text: String) throws(GrammarError) {
        switch text {
        case "full": self = .full
        case "square": self = .square
        case _ where text.hasPrefix("pct:"): self = try Self.percent(String(text.dropFirst(4)))
        default: self = try Self.pixels(text)
        }
    }

    private static func percent(_ text: String) throws(GrammarError) -> IIIFRegion {
        let said = OptionArguments("region", text.split(","))
        guard said.values.count == 4 else { throw unknown(said, text) }
        var numbers: [Double] = []
        for place in 0..<4 { numbers.append(try said.needed(said.decimal(place, in: 0...100))) }
        guard numbers[0] < 100, numbers[1] < 100, numbers[2] > 0, numbers[3] > 0 else {
            throw .malformed("region", "nothing of the image is in it: begin below 100")
        }
        return .percent(
            x: numbers[0], y: numbers[1], width: min(numbers[2], 100 - numbers[0]),
            height: min(numbers[3], 100 - numbers[1]))
    }

    private static func pixels(_ text: String) throws(GrammarError) -> IIIFRegion {
        let said = OptionArguments("region", text.split(","))
        guard said.values.count == 4 else { throw unknown(said, text) }
        var numbers: [Int] = []
        for place in 0..<4 {
            let least = place < 2 ? 0 : 1
            numbers.append(try said.needed(said.whole(place, in: least...RequestSides.most)))
        }
        return .pixels(
            PixelRect(
                x: numbers[0], y: numbers[1],
                size: PixelSize(width: numbers[2], height: numbers[3])))
    }

    private static func unknown(_ said: OptionArguments, _ text: String) -> GrammarError {
        .malformed(
            said.option, "\(said.shown(text)) is none: use full, square, x,y,w,h or pct:x,y,w,h")
    }

    /// The step that cuts it out; `nil` where nothing is cut off.
    var step: TransformStep? {
        switch self {
        case .full, .percent(0, 0, 100, 100): nil
        case .square: .cropRatio(AspectRatio(width: 1, height: 1), .center)
        case .pixels(let rect): .crop(rect)
        case .percent(let x, let y, let width, let height):
            .cropTo(
                RelativeSize(width: .percent(width), height: .percent(height)),
                .point(x: (x + width / 2) / 100, y: (y + height / 2) / 100))
        }
    }
}
