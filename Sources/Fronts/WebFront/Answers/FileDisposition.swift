package import ImageModel

/// The field `Content-Disposition` (RFC 6266): a name that no client can be tricked with.
package enum FileDisposition {
    /// Bytes of a name with its ending.
    private static let nameBytesMax = 200
    /// Bytes of what is taken for the ending of a source's name.
    private static let endingBytesMax = 5

    /// - Parameters:
    ///   - name: what the file is called, without its ending; `nil`: a plain word.
    ///   - format: gives the ending; `nil` of what is no known image.
    ///   - isAttachment: whether browsers are to save it.
    package static func text(
        _ name: String?, _ format: ImageFormat?, isAttachment: Bool
    ) -> String {
        let kind = isAttachment ? "attachment" : "inline"
        let ending = format.map { ".\($0 == .jpeg ? "jpg" : $0.name)" } ?? ""
        let whole = cut(name ?? "image", to: nameBytesMax - ending.utf8.count) + ending
        let plain = String(
            decoding: whole.utf8.map { isPlain($0) ? $0 : UInt8(ascii: "_") }, as: UTF8.self)
        guard plain != whole else { return "\(kind); filename=\"\(plain)\"" }
        return "\(kind); filename=\"\(plain)\"; filename*=UTF-8''\(percent(whole))"
    }

    /// What a file of that source is called, without its ending: the last part of its path; `nil`
    /// where that says nothing.
    package static func name(ofSource url: String) -> String? {
        guard let scheme = url.firstRange(of: "://") else { return nil }
        let parts = url[scheme.upperBound...].prefix { $0 != "?" && $0 != "#" }
            .split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        guard let last = parts.last(where: { !$0.isEmpty }),
            let bytes = PercentCoding.decode(last.utf8),
            let text = String(validating: bytes, as: UTF8.self)
        else { return nil }
        var stem = text[...]
        if let dot = text.lastIndex(of: "."), text[dot...].utf8.count - 1 <= endingBytesMax {
            stem = text[..<dot]
        }
        return stem.allSatisfy { $0 == "." } ? nil : String(stem)
    }

    /// As many characters as so many bytes have.
    private static func cut(_ text: String, to bytesMax: Int) -> String {
        var count = 0
        return String(
            text.prefix { character in
                count += character.utf8.count
                return count <= bytesMax
            })
    }

    /// Letters, digits and `-._`: no quote, no separator of directories, no control byte.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
        default: false
        }
    }

    /// As RFC 8187 §3.2 wants it.
    private static func percent(_ text: String) -> String {
        PercentCoding.encode(text.utf8, keeping: isPlain)
    }
}
