/// Who asks an S3 server. No description shows it.
public struct S3Credentials: Hashable, Sendable {
    /// The name of the key; it travels with every request.
    public var accessKeyID: String
    /// The key itself; it never travels to the server.
    public var secretAccessKey: String
    /// Of keys for a time; empty: none.
    public var sessionToken: String

    /// Bytes of an access key id.
    public static let idBytesMax = 128
    /// Bytes of a secret access key.
    public static let secretBytesMax = 256
    /// Bytes of a session token.
    public static let tokenBytesMax = 4_096

    /// Describes who asks.
    public init(accessKeyID: String, secretAccessKey: String, sessionToken: String = "") {
        self.accessKeyID = accessKeyID
        self.secretAccessKey = secretAccessKey
        self.sessionToken = sessionToken
    }

    /// The profile `default` of a file of Amazon's tools; `nil` where it has no id and secret:
    ///
    ///     [default]
    ///     aws_access_key_id = AKIA…
    ///     aws_secret_access_key = …
    ///     aws_session_token = …
    ///
    /// Lines that begin with `#` or `;`, other profiles and other keys are ignored.
    public init?(profileFile text: String) {
        var found: [String: String] = [:]
        var isDefault = false
        for line in text.utf8.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            let line = Self.trimmed(line)
            if line.first == UInt8(ascii: "[") {
                isDefault = Self.text(line) == "[default]"
            } else if isDefault, let equals = line.firstIndex(of: UInt8(ascii: "=")) {
                let value = Self.text(Self.trimmed(line[equals...].dropFirst()))
                found[Self.text(Self.trimmed(line[..<equals]))] = value
            }
        }
        self.init(
            accessKeyID: found["aws_access_key_id"] ?? "",
            secretAccessKey: found["aws_secret_access_key"] ?? "",
            sessionToken: found["aws_session_token"] ?? "")
        guard isValid else { return nil }
    }

    /// Whether all of it can be sent and signed.
    public var isValid: Bool {
        let isWhole = !accessKeyID.isEmpty && !secretAccessKey.isEmpty
        let fits =
            accessKeyID.utf8.count <= Self.idBytesMax
            && secretAccessKey.utf8.count <= Self.secretBytesMax
            && sessionToken.utf8.count <= Self.tokenBytesMax
        let all = [accessKeyID, secretAccessKey, sessionToken]
        return isWhole && fits && !accessKeyID.utf8.contains(UInt8(ascii: ":"))
            && all.allSatisfy { $0.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } }
    }

    private static func trimmed(_ bytes: Substring.UTF8View) -> Substring.UTF8View {
        let front = bytes.drop { $0 == 0x20 || $0 == 0x09 }
        let count = front.reversed().prefix { $0 == 0x20 || $0 == 0x09 }.count
        return front.dropLast(count)
    }

    private static func text(_ bytes: Substring.UTF8View) -> String {
        String(decoding: bytes, as: UTF8.self)
    }
}

extension S3Credentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Nothing of what it holds.
    public var description: String { "S3Credentials" }
    /// Nothing of what it holds.
    public var debugDescription: String { description }
    /// Nothing of what it holds.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
