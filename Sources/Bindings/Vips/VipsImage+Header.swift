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

    /// The same with EXIF, which anyone may have written; `Exif` and two zeros may be in front.
    public func withEXIF<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
        withBlob(cvips_exif, body)
    }

    /// The same with IPTC: records of IIM, or the resources of Photoshop that have them.
    public func withIPTC<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
        withBlob(cvips_iptc, body)
    }

    /// The bytes of a text of the header, by libvips' name for it, such as `exif-ifd0-Make`; nil
    /// without one. Anyone may have written it.
    public func text(_ name: String) -> [UInt8]? {
        withExtendedLifetime(self) {
            guard let text = cvips_text(pointer, name) else { return nil }
            var bytes: [UInt8] = []
            var place = text
            while place.pointee != 0 {
                bytes.append(UInt8(bitPattern: place.pointee))
                place += 1
            }
            return bytes
        }
    }

    /// A whole number of the header, by libvips' name for it; nil without one.
    public func number(_ name: String) -> Int? {
        withExtendedLifetime(self) {
            let number = cvips_number(pointer, name, .min)
            return number == .min ? nil : Int(number)
        }
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
