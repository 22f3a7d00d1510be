/// Unicode text as letters, digits and hyphens of ASCII (RFC 3492).
enum Punycode {
    private static let (base, leastThreshold, mostThreshold) = (36, 1, 26)
    private static let (skew, damp) = (38, 700)
    private static let (firstBias, firstScalar) = (72, 0x80)

    /// The encoding of a label, without the prefix `xn--`; ASCII characters stay as they are.
    /// `nil` for a label so long that its numbers overflow.
    static func encode(_ label: String) -> String? {
        let scalars = label.unicodeScalars.map { Int($0.value) }
        var output = scalars.filter { $0 < firstScalar }.map { UInt8($0) }
        let basicCount = output.count
        var (handled, next, delta, bias) = (basicCount, firstScalar, 0, firstBias)
        if basicCount > 0 { output.append(UInt8(ascii: "-")) }
        while handled < scalars.count {
            guard let least = scalars.filter({ $0 >= next }).min() else { return nil }
            let (step, overflows) = (least - next).multipliedReportingOverflow(by: handled + 1)
            guard !overflows, delta <= Int(Int32.max) - step else { return nil }
            delta += step
            next = least
            for scalar in scalars {
                if scalar < next { delta += 1 }
                guard scalar == next else { continue }
                append(delta, bias, to: &output)
                bias = adapted(delta, points: handled + 1, isFirst: handled == basicCount)
                delta = 0
                handled += 1
            }
            delta += 1
            next += 1
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Writes a number as a variable-length integer (section 3.3).
    private static func append(_ delta: Int, _ bias: Int, to output: inout [UInt8]) {
        var (rest, position) = (delta, base)
        while true {
            let threshold = min(max(position - bias, leastThreshold), mostThreshold)
            guard rest >= threshold else { break }
            output.append(digit(threshold + (rest - threshold) % (base - threshold)))
            rest = (rest - threshold) / (base - threshold)
            position += base
        }
        output.append(digit(rest))
    }

    /// `a` to `z`, then `0` to `9`.
    private static func digit(_ value: Int) -> UInt8 {
        UInt8(value < 26 ? Int(UInt8(ascii: "a")) + value : Int(UInt8(ascii: "0")) + value - 26)
    }

    /// The bias after a delta (section 6.1).
    private static func adapted(_ delta: Int, points: Int, isFirst: Bool) -> Int {
        var delta = isFirst ? delta / damp : delta / 2
        delta += delta / points
        var position = 0
        while delta > (base - leastThreshold) * mostThreshold / 2 {
            delta /= base - leastThreshold
            position += base
        }
        return position + (base - leastThreshold + 1) * delta / (delta + skew)
    }
}
