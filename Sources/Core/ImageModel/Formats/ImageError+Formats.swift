extension ImageError {
    /// An image of a format that is known and not decoded.
    package static func notDecoded(_ format: ImageFormat) -> ImageError {
        let (title, isVideo) = (format.traits.title ?? format.name, format.traits.isVideo)
        let remedy = isVideo ? "take one of its frames as an image" : "convert it to one"
        let names = ImageFormat.decodable.map(\.name).joined(separator: ", ")
        return ImageError(
            .unsupportedFormat,
            "this version does not decode \(title): \(remedy) of a format that it decodes: "
                + names,
            details: ["format": format.name])
    }

    /// An image is wanted in a format that is known and not encoded.
    package static func notEncoded(_ format: ImageFormat) -> ImageError {
        let names = ImageFormat.encodable.map(\.name).joined(separator: ", ")
        return ImageError(
            .unsupportedFormat, "this version does not encode \(format.name), but \(names)",
            details: ["format": format.name])
    }
}
