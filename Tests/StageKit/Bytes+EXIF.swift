extension [UInt8] {
    /// This JPEG with an EXIF block that holds nothing but the orientation.
    public func withEXIF(orientation: Int) -> [UInt8] {
        let tiff: [UInt8] =
            [0x49, 0x49, 0x2A, 0, 8, 0, 0, 0, 1, 0]
            + [0x12, 0x01, 3, 0, 1, 0, 0, 0, UInt8(orientation), 0, 0, 0]
            + [0, 0, 0, 0]
        let payload = Array("Exif".utf8) + [0, 0] + tiff
        let length = payload.count + 2
        return Array(prefix(2)) + [0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 255)] + payload
            + dropFirst(2)
    }
}
