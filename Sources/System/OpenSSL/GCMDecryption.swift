internal import COpenSSL

/// Incremental AES-256-GCM decryption (NIST SP 800-38D). The output must not be trusted until
/// `finish` has verified the tag.
public struct GCMDecryption: ~Copyable {
    private let context: OpaquePointer

    /// The key size in bytes.
    public static let keyBytes = 32
    /// The nonce size in bytes.
    public static let nonceBytes = 12
    /// The tag size in bytes.
    public static let tagBytes = 16

    /// Starts decryption. Throws `length` if the key or nonce has the wrong length, and `failed` if
    /// the library is out of memory.
    public init(key: [UInt8], nonce: [UInt8]) throws(OpenSSLError) {
        guard key.count == Self.keyBytes, nonce.count == Self.nonceBytes else { throw .length }
        guard let context = EVP_CIPHER_CTX_new() else { throw .failed }
        // The default nonce length is 12 bytes, so it isn't set.
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

    /// Decrypts as many bytes as fit in both buffers and returns their number. The buffers must not
    /// overlap.
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

    /// Verifies the tag. Throws `tag` if it doesn't match all bytes under this key.
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

/// Why bytes can't be decrypted.
public enum OpenSSLError: Error, Hashable, Sendable {
    /// The key, nonce or tag has the wrong length.
    case length
    /// The tag doesn't match: another key or modified bytes.
    case tag
    /// The library failed, usually for lack of memory.
    case failed
}
