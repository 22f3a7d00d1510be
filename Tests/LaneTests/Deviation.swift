import Glibc
import Model
import Testing

/// The deviation of two images: overall in decibels, and of the worst column in 255ths (root mean
/// square), which reveals errors in a few columns.
struct Deviation: Sendable, CustomStringConvertible {
    let decibels: Double
    let column: Double

    init(decibels: Double, column: Double) { (self.decibels, self.column) = (decibels, column) }

    init(of image: TestImage, from other: TestImage) throws {
        try #require(image.size == other.size, "\(image.size) and \(other.size)")
        try #require(image.bands == other.bands)
        let (width, bands) = (image.size.width, image.bands)
        var columns = [Int](repeating: 0, count: width)
        image.samples.withUnsafeBufferPointer { ours in
            other.samples.withUnsafeBufferPointer { theirs in
                columns.withUnsafeMutableBufferPointer { columns in
                    var column = 0
                    for index in 0..<ours.count {
                        let difference = Int(ours[index]) - Int(theirs[index])
                        columns[column / bands] += difference * difference
                        column += 1
                        if column == width * bands { column = 0 }
                    }
                }
            }
        }
        let square = Double(columns.reduce(0, +)) / Double(image.samples.count)
        let count = Double(image.size.height * bands)
        decibels = square == 0 ? 99 : 48.1308 - 4.342945 * log(square)
        column = (Double(columns.max() ?? 0) / count).squareRoot()
    }

    /// Within the limit in both measures.
    func isWithin(_ limit: Deviation) -> Bool {
        decibels >= limit.decibels && column <= limit.column
    }

    var description: String { "\(decibels) dB, worst column \(column)" }
}

extension TestImage {
    /// The image shifted by columns and rows, with the edge repeated.
    func shifted(columns: Int, rows: Int) -> TestImage {
        moved { x, y in (max(0, x - columns), max(0, y - rows)) }
    }

    /// Replaces 16 columns in the middle with those 16 columns away, as zimg does with AVX-512. The
    /// image has at least 32 columns.
    func withColumnsFromAway() -> TestImage {
        let middle = (size.width / 2 - 8)..<(size.width / 2 + 8)
        return moved { x, y in (middle.contains(x) ? (x < 16 ? x + 16 : x - 16) : x, y) }
    }

    private func moved(_ source: (Int, Int) -> (x: Int, y: Int)) -> TestImage {
        var copy = self
        for y in 0..<size.height {
            for x in 0..<size.width {
                let from = source(x, y)
                for band in 0..<bands {
                    copy.samples[(y * size.width + x) * bands + band] =
                        samples[(from.y * size.width + from.x) * bands + band]
                }
            }
        }
        return copy
    }
}
