internal import CVipsShims

extension VipsImage {
    /// The same pixels with copies of these beside them, which encodings that enclose such write;
    /// empty ones are none. What they say changes no pixel.
    public func enclosing(
        profile: [UInt8], xmp: [UInt8]
    ) throws(VipsError) -> VipsImage {
        try profile.withBytes { profile throws(VipsError) in
            try xmp.withBytes { xmp throws(VipsError) in
                try derive("copy") { cvips_enclose($0, profile, xmp, $1) }
            }
        }
    }

    /// The same pixels with EXIF, as loaders of libvips leave it: its bytes, and a text for each
    /// entry. What libvips cannot read, or is longer than EXIF of a JPEG, is left out.
    ///
    /// - Parameter exif: from the header of its TIFF on, or with `Exif` and two zeros in front.
    public func enclosing(exif: [UInt8]) throws(VipsError) -> VipsImage {
        let carrier = HeldBytes(Self.jpeg(of: exif))
        guard !exif.isEmpty,
            let read = try? VipsImage.load(carrier.bytes, by: .jpeg, owner: carrier)
        else { return self }
        return try derive("copy") { image, out in
            withExtendedLifetime(read) { cvips_enclose_exif(image, read.pointer, out) }
        }
    }

    /// The same pixels with a number in the header, by libvips' name for it.
    public func stating(_ number: Int, as name: String) throws(VipsError) -> VipsImage {
        try derive("copy") { cvips_state($0, name, CInt(clamping: number), $1) }
    }

    /// The header of a JPEG of one grey pixel, with that EXIF: libvips reads EXIF of files only.
    private static func jpeg(of exif: [UInt8]) -> [UInt8] {
        let mark = Array("Exif\0\0".utf8)
        let body = (exif.starts(with: mark) ? [] : mark) + exif
        let count = body.count + 2
        guard count <= Int(UInt16.max) else { return [] }
        return [0xFF, 0xD8, 0xFF, 0xE1, UInt8(count >> 8), UInt8(count & 0xFF)] + body
            + [0xFF, 0xC0, 0, 11, 8, 0, 1, 0, 1, 1, 1, 0x11, 0]
            + [0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 63, 0, 0xFF, 0xD9]
    }
}

extension [UInt8] {
    fileprivate func withBytes(
        _ body: (cvips_bytes) throws(VipsError) -> VipsImage
    ) throws(VipsError) -> VipsImage {
        let result = withUnsafeBytes { bytes in
            let given = cvips_bytes(
                bytes: bytes.isEmpty ? nil : bytes.baseAddress, count: bytes.count)
            return Result { () throws(VipsError) in try body(given) }
        }
        return try result.get()
    }
}
