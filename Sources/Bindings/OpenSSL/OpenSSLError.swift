/// Why bytes cannot be decrypted.
public enum OpenSSLError: Error, Hashable, Sendable {
    /// Key, nonce or tag have another length.
    case length
    /// The tag is not that of the bytes: another key, or other bytes.
    case tag
    /// The library refuses, mostly for lack of memory.
    case failed
}
