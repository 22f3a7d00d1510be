import ImageModel

/// Bytes of strangers whose format and size are read without a codec.
enum HeaderTarget {
    static func run(_ bytes: [UInt8]) throws(BrokenInvariant) {
        let (format, sniffed) = (
            ImageFormat(file: bytes.span), ImageFormat.sniff(bytes, tail: bytes)
        )
        try expect(
            format == sniffed || (sniffed == .tiff && format == .raw),
            "a file is what its signature says, or camera RAW in a TIFF")
        guard let header = ImageHeader(bytes.span) else { return }
        try expect(header.size.isPositive, "an image has pixels")
        try expect(
            max(header.size.width, header.size.height) <= Int(Int32.max),
            "no side is larger than a format can say")
        try expect(
            ImageFormat.sniff(bytes, tail: []) == header.format, "the signature is the format's")
        let longer = bytes + [0xFF, 0xC0, 0, 17, 8, 0, 1, 0, 1]
        try expect(
            ImageHeader(longer.span) == header, "what follows a header does not change it")
    }
}
