/// Which samples an ICC profile explains, of those that results have.
package enum ProfileSpace: Hashable, Sendable {
    case rgb, grey

    private static let headerBytes = 128
    /// Scanners, displays, printers and plain spaces; not links between devices and their like.
    private static let classes = ["scnr", "mntr", "prtr", "spac"]

    /// By the header (ICC.1:2022, 7.2); `nil` for other samples, and for what is no whole profile.
    package init?(_ profile: [UInt8]) {
        guard profile.count > Self.headerBytes, profile[36..<40].elementsEqual("acsp".utf8),
            Self.classes.contains(where: { profile[12..<16].elementsEqual($0.utf8) }),
            profile[..<4].reduce(0, { $0 << 8 | Int($1) }) <= profile.count
        else { return nil }
        if profile[16..<20].elementsEqual("RGB ".utf8) {
            self = .rgb
        } else if profile[16..<20].elementsEqual("GRAY".utf8) {
            self = .grey
        } else {
            return nil
        }
    }
}
