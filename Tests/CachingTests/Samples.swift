import Model

@testable import Caching

/// A time in seconds after an arbitrary epoch.
func at(_ seconds: Int64) -> UnixTime { UnixTime(milliseconds: 1_700_000_000_000 + seconds * 1000) }

/// Pseudorandom bytes that differ by seed.
func sample(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    // Eight bytes per step: unoptimized tests generate megabytes.
    var words = [UInt64](repeating: 0, count: (count + 7) / 8)
    for index in words.indices {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        words[index] = state
    }
    return words.withUnsafeBytes { Array($0.prefix(count)) }
}

let jpegFacts = StoredMetadata(
    info: ImageInfo(format: .jpeg, size: PixelSize(width: 640, height: 480), pages: 1))

let originalFacts = StoredMetadata(
    info: ImageInfo(
        format: .webp, size: PixelSize(width: 3, height: 2), pages: 7, hasAlpha: true,
        stillOf: 9, bits: 12, isHDR: true),
    contentType: "image/webp; q=ü", etag: "\"abc\"", lastModified: nil,
    caching: OriginCaching(
        CacheControl("private, max-age=60, stale-if-error=7"),
        ResponseAge(bornMilliseconds: 1_700_000_000_123, expiresInSeconds: 5),
        variesOnEverything: true))

/// Metadata with every kind of carried data.
let carryingFacts: StoredMetadata = {
    var properties = originalFacts
    properties.tags = ["shop", "winter:2026"]
    properties.extendedData = ExtendedData([0, 255, 10, 0], mediaType: "application/x-test")
    properties.digest = ContentDigest((0..<32).map { UInt8($0 * 7) })
    return properties
}()
