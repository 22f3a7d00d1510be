import ImageModel
import Sodium

extension LoadTerms {
    /// Bytes of a `data:` URL that are its own key.
    static let dataKeyBytesMax = 256

    /// Has the keys of a long `data:` URL begin with a digest of it: what it holds is no name that
    /// anybody reads. No URL looks like that: it has no comma.
    mutating func shortenDataKey(of url: String) {
        guard base == .url, loader == .data, url.utf8.count > Self.dataKeyBytesMax else { return }
        do throws(SodiumError) {
            let digest = try BLAKE2bDigest()
            digest.update(Array(url.utf8))
            base = .filtered("data:blake2b-" + digest.finish())
        } catch {
            // Without the library no coordinator starts.
            return
        }
    }
}
