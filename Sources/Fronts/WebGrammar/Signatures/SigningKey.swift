/// A secret that signs paths.
public struct SigningKey: Hashable, Sendable {
    /// What signs; at least one byte.
    public let key: [UInt8]
    /// What stands before every path that is signed; imgproxy alone has one.
    public let salt: [UInt8]

    /// `nil` for a key of no bytes, with which everybody could sign.
    public init?(key: [UInt8], salt: [UInt8] = []) {
        guard !key.isEmpty else { return nil }
        (self.key, self.salt) = (key, salt)
    }

    /// The same, of hexadecimal digits, as imgproxy's configuration has them; `nil` for other texts
    /// too.
    public init?(hexKey: String, hexSalt: String) {
        guard let key = Self.bytes(hexKey), let salt = Self.bytes(hexSalt) else { return nil }
        self.init(key: key, salt: salt)
    }

    private static func bytes(_ digits: String) -> [UInt8]? {
        let values = digits.utf8.map { Character(UnicodeScalar($0)).hexDigitValue }
        guard values.count % 2 == 0, values.allSatisfy({ $0 != nil }) else { return nil }
        return stride(from: 0, to: values.count, by: 2).map {
            UInt8((values[$0] ?? 0) << 4 | (values[$0 + 1] ?? 0))
        }
    }
}
