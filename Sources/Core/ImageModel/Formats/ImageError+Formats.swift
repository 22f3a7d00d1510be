extension ImageError {
    /// An image of a format that is known and not decoded.
    package static func notDecoded(_ format: ImageFormat) -> ImageError {
        notSupported(format, "decode", ImageFormat.decodable)
    }

    /// An image is wanted in a format that is known and not encoded.
    package static func notEncoded(_ format: ImageFormat) -> ImageError {
        notSupported(format, "encode", ImageFormat.encodable)
    }

    private static func notSupported(
        _ format: ImageFormat, _ verb: String, _ others: [ImageFormat]
    ) -> ImageError {
        let names = others.map(\.name).joined(separator: ", ")
        return ImageError(
            .unsupportedFormat, "this version does not \(verb) \(format.name), but \(names)",
            details: ["format": format.name])
    }
}
