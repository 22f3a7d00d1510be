import Model

/// Untrusted bytes whose format and size are read without a codec.
enum HeaderTarget {
    static func run(_ bytes: [UInt8]) throws(BrokenInvariant) {
        let (format, sniffed) = (
            ImageFormat(file: bytes.span), ImageFormat.sniff(bytes, tail: bytes)
        )
        try expect(
            format == sniffed || (sniffed == .tiff && format == .raw)
                || (sniffed == .ico && format == .undefined),
            "a file is what its signature says, or camera RAW in a TIFF, or no icon")
        try checkReaders(bytes)
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

    /// Runs the readers of all formats, regardless of the signature: a decoder that knows the
    /// format by other means calls one of them directly, and a file may be valid as two formats.
    private static func checkReaders(_ bytes: [UInt8]) throws(BrokenInvariant) {
        let reader = HeaderBytes(bytes.span)
        for traits in FormatTraits.rows {
            _ = traits.storedSize?(reader)
            if let colors = traits.statedColors?(reader) {
                _ = HDRColors(colors)
                if let profile = SampleProfile(colors, for: .rgb) {
                    try expect(ProfileSpace(profile.bytes) == .rgb, "a made profile is whole")
                }
            }
            if let frames = traits.storedFrames?(reader) {
                try expect(frames >= 0, "frames are counted")
            }
            for most in [1, 7, 1_000] {
                guard let pages = traits.pageCount?(reader, most) else { continue }
                try expect((0...most).contains(pages), "no more pages are counted than wanted")
            }
            _ = traits.reclassify?(reader)
        }
        _ = reader.jxlAlphaIsPremultiplied
        for tracks in [true, false] {
            for patch in AVIFPatches(reader, ofTracks: tracks).all {
                try expect(
                    patch.offset >= 0 && patch.offset + patch.bytes.count <= bytes.count,
                    "bytes that are replaced are there")
            }
        }
        _ = reader.tiffYCbCr
        if let bitmap = reader.bitmap { try checkSize(bitmap.size) }
        if let icon = reader.largestIcon {
            try checkSize(icon.size)
            try expect(
                icon.range.lowerBound >= 0 && icon.range.upperBound <= bytes.count
                    && !icon.range.isEmpty, "an image of an icon lies in the file")
        }
    }

    private static func checkSize(_ size: PixelSize) throws(BrokenInvariant) {
        try expect(
            size.isPositive && max(size.width, size.height) <= Int(Int32.max),
            "a size of a bitmap is that of pixels")
    }
}
