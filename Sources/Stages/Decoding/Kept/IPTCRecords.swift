/// Records of IPTC-IIM (version 4.2, chapter 1), by themselves as a TIFF has them, or in the
/// resources of Photoshop as a JPEG does.
struct IPTCRecords {
    /// All of them.
    let all: [UInt8]

    private static let mark: UInt8 = 0x1C
    private static let photoshop = Array("Photoshop 3.0\0".utf8)
    private static let resource = Array("8BIM".utf8)
    private static let iptc = 0x0404

    /// `nil` where there are none.
    init?(_ bytes: UnsafeRawBufferPointer) {
        let bytes = Array(bytes)
        let found =
            bytes.starts(with: Self.photoshop)
            ? Self.records(in: bytes[Self.photoshop.count...]) : bytes[...]
        guard let found, found.first == Self.mark else { return nil }
        all = Array(found)
    }

    /// By-line and copyright notice, and in which characters they are; `nil` without the two.
    var rights: [UInt8]? {
        var (kept, hasRights): ([UInt8], Bool) = ([], false)
        var place = 0
        while place + 5 <= all.count, all[place] == Self.mark {
            let length = Int(all[place + 3]) << 8 | Int(all[place + 4])
            let end = place + 5 + length
            guard length < 0x8000, end <= all.count else { break }
            let isOfRights = all[place + 1] == 2 && [80, 116].contains(all[place + 2])
            let isOfCharacters = all[place + 1] == 1 && all[place + 2] == 90
            if isOfRights || isOfCharacters { kept += all[place..<end] }
            hasRights = hasRights || isOfRights
            place = end
        }
        return hasRights ? kept : nil
    }

    /// Each resource is a mark, a number, a name and data, both of an even number of bytes.
    private static func records(in resources: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        var rest = resources
        while rest.starts(with: resource), rest.count >= 12 {
            let number = Int(rest[rest.startIndex + 4]) << 8 | Int(rest[rest.startIndex + 5])
            let name = 1 + Int(rest[rest.startIndex + 6])
            rest = rest.dropFirst(6 + name + name % 2)
            guard rest.count >= 4 else { return nil }
            let count = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(4)
            guard count <= rest.count else { return nil }
            if number == iptc { return rest.prefix(count) }
            rest = rest.dropFirst(count + count % 2)
        }
        return nil
    }
}
