import ImageModel
import OpenSSL

/// A body that is a nonce, a ciphertext of AES-256-GCM and its tag, one behind the other.
final class GCMBody: BodyCipher {
    private var decryption: GCMDecryption
    private let tag: [UInt8]
    /// Bytes of ciphertext that are left.
    private var left: Int
    private var hasNonce = false

    init(_ body: RawSpan, key: [UInt8]) throws(DownloadFailure) {
        let frame = GCMDecryption.nonceBytes + GCMDecryption.tagBytes
        guard body.byteCount >= frame else {
            throw .undecryptable("it is shorter than a nonce and a tag")
        }
        let nonce = body.extracting(first: GCMDecryption.nonceBytes).withUnsafeBytes { Array($0) }
        tag = body.extracting(last: GCMDecryption.tagBytes).withUnsafeBytes { Array($0) }
        left = body.byteCount - frame
        do throws(OpenSSLError) {
            decryption = try GCMDecryption(key: key, nonce: nonce)
        } catch {
            throw .undecrypted(error)
        }
    }

    func step(
        _ input: RawSpan, isLast: Bool, into room: UnsafeMutableRawBufferPointer
    ) throws(DownloadFailure) -> CipherStep {
        let skipped = hasNonce ? 0 : min(GCMDecryption.nonceBytes, input.byteCount)
        hasNonce = true
        let rest = input.extracting(droppingFirst: skipped)
        do throws(OpenSSLError) {
            let text = rest.extracting(first: min(left, rest.byteCount))
            let count = try decryption.update(text, into: room)
            left -= count
            if left == 0 { try decryption.finish(tag: tag) }
            return CipherStep(consumed: skipped + count, produced: count, isEnd: left == 0)
        } catch {
            throw .undecrypted(error)
        }
    }
}

extension DownloadFailure {
    fileprivate static func undecrypted(_ error: OpenSSLError) -> DownloadFailure {
        switch error {
        case .tag: .undecryptable("its tag is not that of its bytes under the key of the rule")
        case .length: .undecryptable("key, nonce or tag have another length")
        case .failed: .refused(ImageError(.busy, "no memory to decrypt the body"))
        }
    }
}
