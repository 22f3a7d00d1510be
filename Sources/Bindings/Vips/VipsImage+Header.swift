internal import CVipsShims

extension VipsImage {
    /// Width in pixels.
    public var width: Int { header.width }

    /// Height in pixels.
    public var height: Int { header.height }

    /// What is known without computing pixels.
    public var header: VipsHeader {
        var raw = cvips_header()
        withExtendedLifetime(self) { cvips_read_header(pointer, &raw) }
        return VipsHeader(
            width: Int(raw.width), height: Int(raw.height), bands: Int(raw.bands),
            bytesPerBand: Int(raw.bytes_per_band),
            samples: VipsHeader.Samples(raw.samples), colour: VipsHeader.Colour(raw.colour),
            hasAlpha: raw.has_alpha != 0, pages: Int(raw.pages),
            orientation: raw.orientation == 0 ? nil : Int(raw.orientation),
            isInterlaced: raw.interlaced != 0)
    }

    /// Hands the embedded ICC profile to `body`, for that call only; nil without a profile.
    public func withProfile<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
        withBlob(cvips_profile, body)
    }

    /// The same with the XMP packet, which anyone may have written.
    public func withXMP<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
        withBlob(cvips_xmp, body)
    }

    /// Bytes of profile, EXIF, XMP and all other texts that came with the pixels.
    public var metadataBytes: Int {
        withExtendedLifetime(self) { cvips_metadata_bytes(pointer) }
    }

    private func withBlob<Result>(
        _ find: (Handle?, UnsafeMutablePointer<Int>?) -> UnsafeRawPointer?,
        _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result? {
        withExtendedLifetime(self) {
            var count = 0
            guard let bytes = find(pointer, &count) else { return nil }
            return body(UnsafeRawBufferPointer(start: bytes, count: count))
        }
    }
}
