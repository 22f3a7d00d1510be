/// What the blocks of a GIF say that was just written (GIF89a).
enum GIFBlocks {
    /// Whether one of its colours is none: its graphic control extension says so (GIF89a, 23).
    static func haveTransparency(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count > 13 else { return false }
        var offset = 13 + paletteBytes(bytes[10])
        while offset + 4 < bytes.count, bytes[offset] == extensionMark {
            if bytes[offset + 1] == graphicControl { return bytes[offset + 3] & 1 == 1 }
            offset += 2
            while offset < bytes.count, bytes[offset] != 0 { offset += 1 + Int(bytes[offset]) }
            offset += 1
        }
        return false
    }

    private static let extensionMark: UInt8 = 0x21
    private static let graphicControl: UInt8 = 0xF9

    /// Of the table of colours that the flags of the screen announce.
    private static func paletteBytes(_ flags: UInt8) -> Int {
        flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1)
    }
}
