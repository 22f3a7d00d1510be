internal import COpenSSL

/// AES-256-GCM (NIST SP 800-38D), undone in pieces: what comes out is not to be believed before
/// `finish` has compared the tag.
public struct GCMDecryption: ~Copyable {
    private let context: OpaquePointer

    /// Bytes of a key.
    public static let keyBytes = 32
    /// Bytes of a nonce.
    public static let nonceBytes = 12
    /// Bytes of a tag.
    public static let tagBytes = 16

    /// Throws `length` for a key or a nonce of another length, and `failed` where the library has
    /// no memory.
    public init(key: [UInt8], nonce: [UInt8]) throws(OpenSSLError) {
        guard key.count == Self.keyBytes, nonce.count == Self.nonceBytes else { throw .length }
        guard let context = EVP_CIPHER_CTX_new() else { throw .failed }
        // A nonce of 12 bytes is the usual one, and is not set.
        guard EVP_DecryptInit_ex(context, EVP_aes_256_gcm(), nil, key, nonce) == 1 else {
            EVP_CIPHER_CTX_free(context)
            throw .failed
        }
        self.context = context
    }

    deinit {
        // Wipes the key.
        EVP_CIPHER_CTX_free(context)
    }

    /// Decrypts as many bytes as both have, and returns how many. They do not overlap.
    public mutating func update(
        _ input: RawSpan, into output: UnsafeMutableRawBufferPointer
    ) throws(OpenSSLError) -> Int {
        let count = min(input.byteCount, output.count, Int(Int32.max) - 64)
        guard count > 0, let target = output.bindMemory(to: UInt8.self).baseAddress else {
            return 0
        }
        var written: Int32 = 0
        let code = input.withUnsafeBytes { bytes in
            EVP_DecryptUpdate(
                context, target, &written, bytes.bindMemory(to: UInt8.self).baseAddress,
                Int32(count))
        }
        guard code == 1, Int(written) == count else { throw .failed }
        return count
    }

    /// Throws `tag` where the tag is not that of all bytes under this key.
    public mutating func finish(tag: [UInt8]) throws(OpenSSLError) {
        guard tag.count == Self.tagBytes else { throw .length }
        var tag = tag
        guard
            EVP_CIPHER_CTX_ctrl(
                context, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagBytes), &tag) == 1
        else { throw .failed }
        var rest = [UInt8](repeating: 0, count: Self.tagBytes)
        var written: Int32 = 0
        guard EVP_DecryptFinal_ex(context, &rest, &written) == 1 else { throw .tag }
    }
}

/// Why bytes cannot be decrypted.
public enum OpenSSLError: Error, Hashable, Sendable {
    /// Key, nonce or tag have another length.
    case length
    /// The tag is not that of the bytes: another key, or other bytes.
    case tag
    /// The library refuses, mostly for lack of memory.
    case failed
}
