import Nettle
import Testing

/// The duration of a comparison reveals nothing about a secret.
@Suite struct SecretBytesTests {
    /// With a megabyte, a comparison that stops at the first different byte would return
    /// immediately in some cases: its minimum durations would differ a thousandfold, and those of
    /// this one not even threefold.
    @Test func whereTheyDifferDoesNotShowInTheTime() {
        let secret = (0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let others = [0, secret.count / 2, secret.count - 1].map { place in
            var other = secret
            other[place] ^= 1
            return other
        }
        var least = [Duration](repeating: .seconds(3_600), count: others.count)
        for _ in 0..<100 {
            for (index, other) in others.enumerated() {
                let start = ContinuousClock.now
                let isEqual = SecretBytes.areEqual(secret, other)
                least[index] = min(least[index], start.duration(to: .now))
                #expect(!isEqual)
            }
        }
        print("first byte, middle, last: \(least)")
        #expect((least.max() ?? .zero) < (least.min() ?? .zero) * 3, "\(least)")
    }
}
