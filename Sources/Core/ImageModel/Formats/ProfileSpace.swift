/// The color space of the samples that an ICC profile explains, by its signature
/// (ICC.1:2022, table 19).
package enum ProfileSpace: String, Hashable, Sendable {
    case rgb = "RGB "
    case grey = "GRAY"
    case cmyk = "CMYK"

    private static let headerBytes = 128
    /// Scanners, displays, printers and plain spaces; not links between devices and their like.
    private static let classes = ["scnr", "mntr", "prtr", "spac"]

    /// By the header (ICC.1:2022, 7.2); `nil` for other samples, and for what is no whole profile.
    package init?(_ profile: some RandomAccessCollection<UInt8>) {
        let header = Array(profile.prefix(Self.headerBytes))
        guard profile.count > Self.headerBytes, header[36..<40].elementsEqual("acsp".utf8),
            Self.classes.contains(where: { header[12..<16].elementsEqual($0.utf8) }),
            header[..<4].reduce(0, { $0 << 8 | Int($1) }) <= profile.count
        else { return nil }
        self.init(rawValue: String(decoding: header[16..<20], as: UTF8.self))
    }
}
