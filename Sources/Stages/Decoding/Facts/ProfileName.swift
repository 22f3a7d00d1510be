/// What an ICC profile calls itself: its tag `desc`, which is ASCII in profiles of version 2 and in
/// several languages in later ones (ICC.1:2001-04, 6.5.17; ICC.1:2022, 10.15). Of these the first
/// one counts, which is English as a rule.
///
/// Anyone may have written the profile: a tag that lies elsewhere than it says is none.
struct ProfileName {
    private static let headerBytes = 128
    private static let tagsMax = 100
    /// Bytes of the text that are looked at; what is told is cut off further.
    private static let textBytesMax = 512

    private let bytes: UnsafeRawBufferPointer

    /// The bytes of a text, which need not be UTF-8; `nil` where there is none.
    static func read(_ profile: UnsafeRawBufferPointer) -> [UInt8]? {
        let profile = ProfileName(bytes: profile)
        guard let tag = profile.tag("desc") else { return nil }
        return profile.isType("desc", at: tag.lowerBound)
            ? profile.plain(tag)
            : profile.isType("mluc", at: tag.lowerBound)
                ? profile.inLanguages(tag) : nil
    }

    private func tag(_ name: String) -> Range<Int>? {
        guard let count = number(Self.headerBytes) else { return nil }
        for index in 0..<min(count, Self.tagsMax) {
            let entry = Self.headerBytes + 4 + 12 * index
            guard isType(name, at: entry), let start = number(entry + 4),
                let length = number(entry + 8)
            else { continue }
            return part(start, length)
        }
        return nil
    }

    /// Type, four zeros, the length with a NUL at the end, the text.
    private func plain(_ tag: Range<Int>) -> [UInt8]? {
        guard let length = number(tag.lowerBound + 8),
            let text = part(tag.lowerBound + 12, min(length, Self.textBytesMax))
        else { return nil }
        return Array(bytes[text].prefix { $0 != 0 })
    }

    /// Type, four zeros, the number of names, the length of what says where each is: language,
    /// country, length, and offset in the tag. The names are UTF-16 with the high byte first.
    private func inLanguages(_ tag: Range<Int>) -> [UInt8]? {
        guard let count = number(tag.lowerBound + 8), count > 0,
            let length = number(tag.lowerBound + 20), let offset = number(tag.lowerBound + 24),
            let text = part(tag.lowerBound + offset, min(length, Self.textBytesMax))
        else { return nil }
        let units = stride(from: text.lowerBound, to: text.upperBound - 1, by: 2).map { place in
            UInt16(bytes[place]) << 8 | UInt16(bytes[place + 1])
        }
        return Array(String(decoding: units.prefix { $0 != 0 }, as: UTF16.self).utf8)
    }

    private func isType(_ name: String, at place: Int) -> Bool {
        part(place, 4).map { bytes[$0].elementsEqual(name.utf8) } ?? false
    }

    private func number(_ place: Int) -> Int? {
        part(place, 4).map { bytes[$0].reduce(0) { $0 << 8 | Int($1) } }
    }

    /// Within the profile; numbers of it are of 32 bits, so that sums do not overflow.
    private func part(_ start: Int, _ length: Int) -> Range<Int>? {
        start >= 0 && length >= 0 && start + length <= bytes.count ? start..<(start + length) : nil
    }
}
