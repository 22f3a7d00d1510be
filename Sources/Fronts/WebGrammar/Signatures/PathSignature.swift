import Nettle

/// How a grammar signs paths.
struct PathSignature: Hashable, Sendable {
    let algorithm: HMAC
    let keys: [SigningKey]
    /// Bytes of a signature: the first ones of the code.
    let byteCount: Int

    /// The signature of a path by the first key, in Base64 (RFC 4648, section 5) without padding;
    /// `nil` without keys.
    func text(for path: [UInt8]) -> String? {
        guard let key = keys.first else { return nil }
        let code = algorithm.code(of: [key.salt, path], key: key.key)
        return Base64URL.encode(Array(code.prefix(byteCount)))
    }

    /// Whether some bytes are the signature of a path, by any of the keys. All keys are tried,
    /// whichever it is, and each is compared in the same time whatever it says.
    func verifies(_ signature: [UInt8], of path: [UInt8]) -> Bool {
        var isSigned = false
        for key in keys {
            let code = algorithm.code(of: [key.salt, path], key: key.key)
            let isOne = SecretBytes.areEqual(signature, Array(code.prefix(byteCount)))
            isSigned = isOne || isSigned
        }
        return isSigned
    }
}
