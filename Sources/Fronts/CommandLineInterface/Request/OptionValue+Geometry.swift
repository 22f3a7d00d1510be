package import ImageModel

extension OptionValue {
    /// `512x418`
    package static func size(_ text: String) throws(UsageError) -> PixelSize {
        let parts = text.split(separator: "x", omittingEmptySubsequences: false)
            .map { PlainNumber.integer(String($0)) }
        let sides = 1...RequestLimits.sideMax
        guard parts.count == 2, let width = parts[0], let height = parts[1],
            sides.contains(width), sides.contains(height)
        else {
            throw UsageError(
                "'\(text)' is no WIDTHxHEIGHT in pixels, such as 512x418, "
                    + "at most \(RequestLimits.sideMax) each")
        }
        return PixelSize(width: width, height: height)
    }

    /// The box of a resize: `512x418`, `512x` or `x418`.
    package static func box(_ text: String) throws(UsageError) -> PixelSize {
        guard let box = PixelSize(box: text) else {
            throw UsageError(
                "'\(text)' is no WIDTHxHEIGHT in pixels, such as 512x418, 512x or x418, "
                    + "at most \(RequestLimits.sideMax) each")
        }
        return box
    }

    /// Pixels for each pixel.
    package static func pixelRatio(_ text: String) throws(UsageError) -> Double {
        let ratios = RequestLimits.pixelRatios
        guard let ratio = PlainNumber.decimal(text), ratios.contains(ratio) else {
            throw UsageError(
                "'\(text)' is no number from \(ratios.lowerBound) to "
                    + "\(Int(ratios.upperBound)), such as 2")
        }
        return ratio
    }

    /// The value of a step.
    package static func step(
        _ syntax: StepSyntax, _ text: String
    ) throws(UsageError) -> TransformStep {
        guard let step = syntax.parse(text) else {
            let fault = syntax.fault(text).map { "\($0); " } ?? ""
            throw UsageError("\(fault)expected \(syntax.expected), not '\(text)'")
        }
        return step
    }

    package static func resizeMode(_ text: String) throws(UsageError) -> ResizeMode {
        try word(text, ResizeMode.named)
    }

    /// A format that this version encodes, or that somebody else may.
    package static func format(_ text: String) throws(UsageError) -> ImageFormat {
        let known = ImageFormat.encodable.map(\.name)
        guard let format = ImageFormat(name: text), format.mayBeEncoded else {
            throw UsageError(
                "'\(text)' is not one of \(known.joined(separator: ", ")) (or jpg)"
                    + Nearness.question(text, known))
        }
        return format
    }
}
