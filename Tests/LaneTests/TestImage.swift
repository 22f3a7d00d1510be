import Model
import TestKit

/// Pixels in memory, gray or RGB: a generated image or a result of the stages.
struct TestImage {
    let size: PixelSize
    let bands: Int
    var samples: [UInt8]

    init(_ size: PixelSize, bands: Int, samples: [UInt8]) {
        (self.size, self.bands, self.samples) = (size, bands, samples)
    }

    /// An image with the characteristics of photographs: gradients, texture at three scales, and
    /// saturated areas with edges.
    static func photograph(
        _ width: Int, _ height: Int, seed: UInt64 = 1,
        textures: [(cell: Int, depth: Int)] = [(61, 70), (19, 50), (7, 25)]
    ) -> TestImage {
        var generator = SeededGenerator(seed: seed)
        let textures = textures.map { cell, depth in
            Texture(width, height, cell: cell, depth: depth, &generator)
        }
        let discs = (0..<7).map { _ in Disc(in: width, height, &generator) }
        var samples: [UInt8] = []
        samples.reserveCapacity(width * height * 3)
        for y in 0..<height {
            for x in 0..<width {
                let light = textures.reduce(0) { $0 + $1.value(x, y) }
                let color =
                    discs.first { $0.contains(x, y) }?.color
                    ?? [70 + 100 * x / width, 130 - 50 * y / height, 90 + 70 * y / height]
                for band in color { samples.append(UInt8(clamping: band + light)) }
            }
        }
        return TestImage(PixelSize(width: width, height: height), bands: 3, samples: samples)
    }

    /// The samples of one pixel.
    func pixel(_ x: Int, _ y: Int) -> [UInt8] {
        let start = (y * size.width + x) * bands
        return Array(samples[start..<(start + bands)])
    }

    /// Y, Cb and Cr of one pixel (JFIF 1.02).
    func colors(_ x: Int, _ y: Int) -> (luma: Double, blue: Double, red: Double) {
        let start = (y * size.width + x) * bands
        guard bands >= 3 else { return (Double(samples[start]), 128, 128) }
        let (r, g, b) = (
            Double(samples[start]), Double(samples[start + 1]), Double(samples[start + 2])
        )
        return (
            0.299 * r + 0.587 * g + 0.114 * b, 128 - 0.168736 * r - 0.331264 * g + 0.5 * b,
            128 + 0.5 * r - 0.418688 * g - 0.081312 * b
        )
    }
}

/// Random values on a grid, interpolated linearly.
private struct Texture {
    let cell: Int
    let columns: Int
    let values: [Int]

    init(_ width: Int, _ height: Int, cell: Int, depth: Int, _ generator: inout SeededGenerator) {
        self.cell = cell
        columns = width / cell + 2
        values = (0..<(columns * (height / cell + 2))).map { _ in
            Int.random(in: (-depth / 2)...(depth / 2), using: &generator)
        }
    }

    func value(_ x: Int, _ y: Int) -> Int {
        let place = y / cell * columns + x / cell
        let (right, down) = (x % cell, y % cell)
        let upper = values[place] * (cell - right) + values[place + 1] * right
        let lower = values[place + columns] * (cell - right) + values[place + columns + 1] * right
        return (upper * (cell - down) + lower * down) / (cell * cell)
    }
}

private struct Disc {
    let x: Int
    let y: Int
    let radius: Int
    let color: [Int]

    init(in width: Int, _ height: Int, _ generator: inout SeededGenerator) {
        x = Int.random(in: 0...width, using: &generator)
        y = Int.random(in: 0...height, using: &generator)
        radius = max(2, min(width, height)) / Int.random(in: 3...9, using: &generator)
        color =
            [
                [210, 40, 40], [40, 180, 60], [50, 60, 220], [220, 200, 40], [230, 230, 230],
            ][Int.random(in: 0..<5, using: &generator)]
    }

    func contains(_ column: Int, _ row: Int) -> Bool {
        (column - x) * (column - x) + (row - y) * (row - y) < radius * radius
    }
}
