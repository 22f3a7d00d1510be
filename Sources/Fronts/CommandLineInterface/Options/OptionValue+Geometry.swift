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

    /// `10,20,300,200`
    package static func rectangle(_ text: String) throws(UsageError) -> PixelRect {
        let texts = text.split(separator: ",", omittingEmptySubsequences: false)
        let parts = texts.compactMap { PlainNumber.integer(String($0)) }
        let places = -RequestLimits.sideMax...RequestLimits.sideMax
        guard texts.count == 4, parts.count == 4, parts.allSatisfy(places.contains),
            parts[2] > 0, parts[3] > 0
        else {
            throw UsageError(
                "'\(text)' is no LEFT,TOP,WIDTH,HEIGHT in pixels, such as 10,20,300,200")
        }
        return PixelRect(
            x: parts[0], y: parts[1], size: PixelSize(width: parts[2], height: parts[3]))
    }

    /// Degrees clockwise.
    package static func rotation(_ text: String) throws(UsageError) -> Rotation {
        guard let degrees = PlainNumber.decimal(text), abs(degrees) <= 360_000 else {
            throw UsageError("'\(text)' is no angle in degrees, such as 90 or -12.5")
        }
        return Rotation(degreesClockwise: degrees)
    }

    package static func flip(_ text: String) throws(UsageError) -> TransformStep {
        try word(
            text,
            [
                ("h", .flip(horizontal: true, vertical: false)),
                ("v", .flip(horizontal: false, vertical: true)),
                ("hv", .flip(horizontal: true, vertical: true)),
            ])
    }

    /// `http://host/mark.png,-10,-10,0.5`
    package static func overlay(_ text: String) throws(UsageError) -> Overlay {
        guard let overlay = Overlay(text) else {
            throw UsageError(
                "an overlay is an http or https URL, which X,Y and an opacity from 0 to 1 may "
                    + "follow, such as http://host/mark.png,-10,-10,0.5; a URL that ends in a "
                    + "comma and a number needs all three")
        }
        return overlay
    }

    package static func resizeMode(_ text: String) throws(UsageError) -> ResizeMode {
        try word(
            text,
            [
                ("fit", .fit), ("fill", .fill), ("stretch", .stretch), ("letterbox", .letterbox),
            ])
    }

    /// A format that this version encodes.
    package static func format(_ text: String) throws(UsageError) -> ImageFormat {
        let known = ImageFormat.allCases.filter(\.isEncodable).map(\.name)
        guard let format = ImageFormat(name: text), format.isEncodable else {
            throw UsageError(
                "'\(text)' is not one of \(known.joined(separator: ", ")) (or jpg)")
        }
        return format
    }
}
