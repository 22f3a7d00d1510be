/// A JPEG XL of 9,990 × 9,990 pixels of one color in 4 KB, for which libjxl allocates 2 GB: it is
/// lossless, so it is decoded as a whole.
public enum LargeJXL {
    /// The file as cjxl writes it: a header, a table with the length of each group, and the groups,
    /// nearly all of which have one byte.
    public static let file: [UInt8] = {
        var bytes: [UInt8] = [0xFF, 0x0A, 0x2C, 0x38, 0x21, 0x20, 0xA0, 0xB8]
        bytes += [0x10, 0x08, 0x02, 0x01, 0x00, 0x24, 0x40, 0x00]
        for pair in 0..<812 { bytes += pair == 12 ? [0x00, 0x40, 0x00] : oneByteGroups }
        bytes += [0x04, 0x00, 0x4B, 0x12, 0xA5, 0x42, 0x85, 0x24, 0x2C, 0x00, 0x10]
        return bytes + [UInt8](repeating: 0x03, count: 1_625)
    }()

    /// Two entries of the table, of 12 bits each.
    private static let oneByteGroups: [UInt8] = [0x04, 0x40, 0x00]
}
