/// Points per pixel by the text of a key (SEMANTICS §4.8).
public enum ScaleFactor {
    private static let bytesMin = 8

    /// 2 or 3 where the key has 8 bytes at least and contains `@2x.` or `@3x.`, in keys of http and
    /// https also `%402x.` or `%403x.`; else 1.
    public static func of(key: String) -> Double {
        let bytes = Array(key.utf8)
        guard bytes.count >= bytesMin else { return 1 }
        let isHTTP = isHTTP(bytes)
        for index in bytes.indices.dropLast() where bytes[index] == UInt8(ascii: "x") {
            guard bytes[index + 1] == UInt8(ascii: "."), index >= 2 else { continue }
            let digit = bytes[index - 1]
            guard digit == UInt8(ascii: "2") || digit == UInt8(ascii: "3") else { continue }
            let before = bytes[..<(index - 1)]
            if before.last == UInt8(ascii: "@")
                || (isHTTP && before.suffix(3).elementsEqual("%40".utf8))
            {
                return digit == UInt8(ascii: "2") ? 2 : 3
            }
        }
        return 1
    }

    private static func isHTTP(_ bytes: [UInt8]) -> Bool {
        let start = String(decoding: bytes.prefix(8), as: UTF8.self).lowercased()
        return start.hasPrefix("http://") || start.hasPrefix("https://")
    }
}
