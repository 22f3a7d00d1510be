package import ImageModel

/// The field `Content-Disposition` (RFC 6266): a name that no client can be tricked with.
package enum FileDisposition {
    private static let nameBytesMax = 200

    /// - Parameters:
    ///   - name: what the file is called, without its ending; `nil`: a plain word.
    ///   - format: gives the ending; `nil` of what is no known image.
    ///   - isAttachment: whether browsers are to save it.
    package static func text(
        _ name: String?, _ format: ImageFormat?, isAttachment: Bool
    ) -> String {
        let kind = isAttachment ? "attachment" : "inline"
        let ending = format.map { ".\($0 == .jpeg ? "jpg" : $0.name)" } ?? ""
        let whole = (name ?? "image") + ending
        let plain = String(
            decoding: whole.utf8.prefix(nameBytesMax).map { isPlain($0) ? $0 : 0x5F },
            as: UTF8.self)
        guard plain != whole else { return "\(kind); filename=\"\(plain)\"" }
        return "\(kind); filename=\"\(plain)\"; filename*=UTF-8''\(percent(whole))"
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
        PercentCoding.encode(text.utf8.prefix(nameBytesMax), keeping: isPlain)
    }
}
