import Nettle
import Testing

/// A comparison says nothing of a secret by the time that it takes.
@Suite struct SecretBytesTests {
    /// Of a megabyte, so that one that ends at the first byte that differs would take no time at
    /// all there: its least times differ a thousandfold, and those of this one not even threefold.
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
