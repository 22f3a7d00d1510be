extension [UInt8] {
    /// This JPEG with an EXIF block that contains only the orientation.
    public func withEXIF(orientation: Int) -> [UInt8] {
        let tiff: [UInt8] =
            [0x49, 0x49, 0x2A, 0, 8, 0, 0, 0, 1, 0]
            + [0x12, 0x01, 3, 0, 1, 0, 0, 0, UInt8(orientation), 0, 0, 0]
            + [0, 0, 0, 0]
        return withSegment(0xE1, Array("Exif".utf8) + [0, 0] + tiff)
    }

    /// This JPEG with an XMP packet that contains `text`.
    public func withXMP(_ text: String) -> [UInt8] {
        withSegment(0xE1, Array("http://ns.adobe.com/xap/1.0/\0".utf8) + Array(text.utf8))
    }

    /// This JPEG with that ICC profile, which must fit one segment.
    public func withProfile(_ profile: [UInt8]) -> [UInt8] {
        withSegment(0xE2, Array("ICC_PROFILE".utf8) + [0, 1, 1] + profile)
    }

    /// This JPEG with an ICC profile that consists only of a header with that device.
    public func withProfile(_ device: String) -> [UInt8] {
        var profile = [UInt8](repeating: 0, count: 132)
        profile.replaceSubrange(48..<(48 + device.utf8.count), with: device.utf8)
        return withSegment(0xE2, Array("ICC_PROFILE".utf8) + [0, 1, 1] + profile)
    }

    /// This JPEG with an additional segment, before all others.
    public func withSegment(_ marker: UInt8, _ payload: [UInt8]) -> [UInt8] {
        let length = payload.count + 2
        return Array(prefix(2)) + [0xFF, marker, UInt8(length >> 8), UInt8(length & 255)] + payload
            + dropFirst(2)
    }
}
