import ImageModel

/// The four parameters of an image, in their order (IIIF Image API 3.0, section 4).
struct IIIFParameters {
    private let region: IIIFRegion
    private let size: IIIFSize
    /// Degrees clockwise, 0 to below 360.
    private let angle: Double
    private let isMirrored: Bool
    private let isGray: Bool
    private let format: ImageFormat

    /// Region, size, rotation, and quality with format.
    init(_ texts: [String]) throws(GrammarError) {
        region = try IIIFRegion(texts[0])
        size = try IIIFSize(texts[1])
        (isMirrored, angle) = try Self.rotation(texts[2])
        guard let dot = texts[3].lastIndex(of: ".") else {
            throw .malformed("format", "it is missing: write .jpg behind the quality")
        }
        isGray = try Self.isGray(String(texts[3][..<dot]))
        format = try Self.format(String(texts[3][texts[3].index(after: dot)...]))
    }

    /// The steps are in the order of the parameters.
    func take(into request: inout WebRequest) {
        var steps: [TransformStep] = []
        if region == .square {
            steps += size.squareSteps
        } else {
            if let step = region.step { steps.append(step) }
            if let step = size.step { steps.append(step) }
        }
        if isMirrored { steps.append(.flip(horizontal: true, vertical: false)) }
        if angle != 0 { steps.append(.rotate(Rotation(degreesClockwise: angle))) }
        if isGray { steps.append(.grayscale) }
        request.image.steps = steps
        request.image.output.format = format
        request.leastSize = size.least.flatMap(turned)
    }

    /// The size that is looked at is that of the result: quarters of a turn exchange its sides,
    /// and other angles say nothing of them.
    private func turned(_ size: PixelSize) -> PixelSize? {
        switch angle {
        case 0, 180: size
        case 90, 270: PixelSize(width: size.height, height: size.width)
        default: nil
        }
    }

    private static func rotation(
        _ text: String
    ) throws(GrammarError) -> (isMirrored: Bool, angle: Double) {
        let isMirrored = text.hasPrefix("!")
        let number = isMirrored ? String(text.dropFirst()) : text
        let said = OptionArguments("rotation", [number])
        guard number.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }) else {
            throw .malformed("rotation", "\(said.shown(text)) is none: use 0 to 360, or ! and such")
        }
        let angle = try said.needed(said.decimal(0, in: 0...360))
        return (isMirrored, angle == 360 ? 0 : angle)
    }

    private static func isGray(_ text: String) throws(GrammarError) -> Bool {
        switch text {
        case "default", "color": return false
        case "gray": return true
        case "bitonal":
            // What is not supported is 400 (IIIF Image API 3.0, section 4.4).
            throw .malformed("quality", "bitonal is not done here: use gray")
        default:
            let said = OptionArguments("quality", [text])
            throw .malformed("quality", "\(said.shown(text)) is none: use default, color or gray")
        }
    }

    private static func format(_ text: String) throws(GrammarError) -> ImageFormat {
        let said = OptionArguments("format", [text])
        guard let format = ImageFormat(fileExtension: text), text == text.lowercased() else {
            throw .malformed("format", "\(said.shown(text)) is none: use jpg, png, webp or gif")
        }
        guard format.isEncodable else {
            // And here (section 4.5).
            throw .malformed(
                "format", "\(text) is not written here: use jpg, png, webp, gif or tif")
        }
        return format
    }
}
