import Glibc
import Model
import Testing

extension TestImage {
    /// The peak signal-to-noise ratio in decibels; a gray image is compared as RGB.
    func psnr(against other: TestImage) throws -> Double {
        let squares = try sum(against: other) { $0 * $0 }
        return squares.mean == 0 ? 99 : 48.1308 - 4.342945 * log(squares.mean)
    }

    /// The mean difference of samples, in 255ths.
    func difference(from other: TestImage) throws -> Double {
        try sum(against: other, abs).mean
    }

    private func sum(
        against other: TestImage, _ weight: (Int) -> Int
    ) throws -> (mean: Double, count: Int) {
        try #require(size == other.size, "\(size) and \(other.size)")
        let bands = max(bands, other.bands)
        var sum = 0
        samples.withUnsafeBufferPointer { ours in
            other.samples.withUnsafeBufferPointer { theirs in
                for pixel in 0..<(size.width * size.height) {
                    for band in 0..<bands {
                        let left = Int(ours[pixel * self.bands + min(band, self.bands - 1)])
                        let right = Int(theirs[pixel * other.bands + min(band, other.bands - 1)])
                        sum += weight(left - right)
                    }
                }
            }
        }
        let count = size.width * size.height * bands
        return (Double(sum) / Double(count), count)
    }
}

extension TestImage {
    /// The mean difference of Cb and Cr.
    func colorDifference(from other: TestImage) throws -> Double {
        try #require(size == other.size)
        var sum = 0.0
        for y in 0..<size.height {
            for x in 0..<size.width {
                let (left, right) = (colors(x, y), other.colors(x, y))
                sum += abs(left.blue - right.blue) + abs(left.red - right.red)
            }
        }
        return sum / Double(2 * size.width * size.height)
    }
}
