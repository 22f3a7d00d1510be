extension ImageError {
    /// An image of a format that is known and not decoded.
    package static func notDecoded(_ format: ImageFormat) -> ImageError {
        let (title, isVideo) = (format.traits.title ?? format.name, format.traits.isVideo)
        let remedy = isVideo ? "take one of its frames as an image" : "convert it to one"
        let names = ImageFormat.decodable(.raster).map(\.name).joined(separator: ", ")
        return ImageError(
            .unsupportedFormat,
            "this version does not decode \(title): \(remedy) of a format that it decodes: "
                + names,
            details: ["format": format.name])
    }

    /// An image that other workers decode, where an operator wants that.
    package static func decodedApart(_ format: ImageFormat) -> ImageError {
        ImageError(
            .unsupportedFormat,
            "\(format.traits.title ?? format.name) are decoded by workers of the pool 'vector', "
                + "which is off by default: an operator starts one with 'serve --vector 1'",
            details: ["format": format.name])
    }

    /// An image is wanted in a format that is known and that our own workers do not encode.
    package static func notEncoded(_ format: ImageFormat) -> ImageError {
        encodedNowhere(format, "this version does not encode \(format.name), but \(encodedNames)")
    }

    /// The same where workers of somebody else could encode it, and none is granted that.
    package static func encodedByNobody(_ format: ImageFormat) -> ImageError {
        encodedNowhere(
            format,
            "no worker here encodes \(format.name), but \(encodedNames): an operator may add one "
                + "that does")
    }

    private static var encodedNames: String {
        ImageFormat.encodable.map(\.name).joined(separator: ", ")
    }

    private static func encodedNowhere(_ format: ImageFormat, _ sentence: String) -> ImageError {
        ImageError(.unsupportedFormat, sentence, details: ["format": format.name])
    }
}
