import Imagebus
import Model

/// The pixels of an image with at most 256 colors, for terminals with sixels.
struct IndexedPixels: Hashable {
    /// Width and height in pixels.
    let size: PixelSize
    /// Red, green, blue and alpha of each color; at most 256 colors.
    let palette: [[UInt8]]
    /// The color index of each pixel, row by row from the top.
    let indexes: [UInt8]

    /// Creates an image from indexes that must be valid for the palette and whose count must match
    /// the size.
    init(size: PixelSize, palette: [[UInt8]], indexes: [UInt8]) {
        (self.size, self.palette, self.indexes) = (size, palette, indexes)
    }

    /// Chooses the colors by median cut (Heckbert, SIGGRAPH 1982). Color 0 is transparent and
    /// stands for all pixels that are more than half transparent; the others are opaque.
    init(_ pixels: FramePixels) {
        var histogram = ColorHistogram()
        let cells = stride(from: 0, to: pixels.rgba.count, by: 4).map { start -> Int? in
            guard pixels.rgba[start + 3] >= 128 else { return nil }
            return histogram.add(
                pixels.rgba[start], pixels.rgba[start + 1], pixels.rgba[start + 2])
        }
        let boxes = histogram.boxes(atMost: 255)
        var indexByCell = [UInt8](repeating: 0, count: ColorHistogram.cellCount)
        for (index, box) in boxes.enumerated() {
            for cell in box.cells { indexByCell[cell] = UInt8(index + 1) }
        }
        self.init(
            size: pixels.size, palette: [[0, 0, 0, 0]] + boxes.map { histogram.mean(of: $0) },
            indexes: cells.map { cell in cell.map { indexByCell[$0] } ?? 0 })
    }
}

/// The colors of an image, counted in cells of the color space: five bits per channel.
struct ColorHistogram {
    static let cellCount = 1 << 15
    private var counts = [Int](repeating: 0, count: cellCount)
    /// The sum of the colors in each cell: red, green and blue.
    private var sums = [SIMD3<Int>](repeating: .zero, count: cellCount)

    /// Cells that share a color of the palette.
    struct Box {
        let cells: [Int]
        /// The position of the channel with the widest range in the number of a cell.
        let channel: Int
        /// How far the pixels are from a common color: that range times their number.
        let spread: Int
    }

    /// Counts a color. Returns its cell.
    mutating func add(_ red: UInt8, _ green: UInt8, _ blue: UInt8) -> Int {
        let cell = Int(red >> 3) << 10 | Int(green >> 3) << 5 | Int(blue >> 3)
        counts[cell] += 1
        sums[cell] &+= SIMD3(Int(red), Int(green), Int(blue))
        return cell
    }

    /// Divides all colors into at most `most` boxes, each time the one with the largest spread.
    func boxes(atMost most: Int) -> [Box] {
        let used = counts.indices.filter { counts[$0] > 0 }
        guard !used.isEmpty else { return [] }
        var boxes = [box(of: used)]
        while boxes.count < most,
            let widest = boxes.indices.max(by: { boxes[$0].spread < boxes[$1].spread }),
            boxes[widest].spread > 0
        {
            let (lower, upper) = halves(of: boxes[widest])
            boxes[widest] = lower
            boxes.append(upper)
        }
        return boxes
    }

    /// Returns the mean color of a box as red, green, blue and alpha.
    func mean(of box: Box) -> [UInt8] {
        let sum = box.cells.reduce(SIMD3<Int>.zero) { $0 &+ sums[$1] }
        let count = box.cells.reduce(0) { $0 + counts[$1] }
        return (0..<3).map { UInt8((sum[$0] + count / 2) / count) } + [255]
    }

    private func box(of cells: [Int]) -> Box {
        let ranges = [10, 5, 0].map { channel in
            let values = cells.map { $0 >> channel & 31 }
            return (channel: channel, range: (values.max() ?? 0) - (values.min() ?? 0))
        }
        let widest = ranges.max { $0.range < $1.range } ?? (channel: 0, range: 0)
        return Box(
            cells: cells, channel: widest.channel,
            spread: widest.range * cells.reduce(0) { $0 + counts[$1] })
    }

    /// Divides a box of at least two cells where half of its pixels are on each side.
    private func halves(of box: Box) -> (Box, Box) {
        let cells = box.cells.sorted {
            ($0 >> box.channel & 31, $0) < ($1 >> box.channel & 31, $1)
        }
        let half = cells.reduce(0) { $0 + counts[$1] } / 2
        var count = 0
        let middle =
            cells.firstIndex { cell in
                count += counts[cell]
                return count > half
            } ?? 0
        let cut = min(max(1, middle), cells.count - 1)
        return (self.box(of: Array(cells[..<cut])), self.box(of: Array(cells[cut...])))
    }
}
