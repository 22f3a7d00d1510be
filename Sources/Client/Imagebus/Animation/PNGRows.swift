import ImageModel

/// The filters of a PNG, undone and done (PNG specification, third edition, chapter 9), and its
/// pixels as four bytes each.
struct PNGRows {
    private let channels: Int

    init(_ channels: Int) { self.channels = channels }

    /// Throws `badImageData` for a filter that there is not.
    func rgba(_ rows: [UInt8], _ header: PNGPixels.Header) throws(ImageError) -> [UInt8] {
        var rows = rows
        let (width, height) = (header.size.width, header.size.height)
        var pixels = [UInt8](repeating: 255, count: 4 * width * height)
        let isKnown = rows.withUnsafeMutableBufferPointer { rows in
            pixels.withUnsafeMutableBufferPointer { pixels in
                for y in 0..<height {
                    let start = y * (1 + header.rowBytes)
                    guard undo(rows[start], rows, at: start + 1, header.rowBytes, isFirst: y == 0)
                    else { return false }
                    widen(rows, from: start + 1, to: pixels, at: 4 * y * width, width)
                }
                return true
            }
        }
        guard isKnown else { throw PNGPixels.broken("a filter is unknown") }
        return pixels
    }

    /// All rows become what they were; false for an unknown filter.
    func undo(_ rows: inout [UInt8], _ header: PNGPixels.Header) -> Bool {
        rows.withUnsafeMutableBufferPointer { rows in
            (0..<header.size.height).allSatisfy { y in
                let start = y * (1 + header.rowBytes)
                return undo(rows[start], rows, at: start + 1, header.rowBytes, isFirst: y == 0)
            }
        }
    }

    /// Four bytes each again, as rows of differences to the pixel on the left (filter 1).
    static func differences(_ rgba: [UInt8], _ size: PixelSize) -> [UInt8] {
        let row = 4 * size.width
        var rows = [UInt8](repeating: 1, count: (row + 1) * size.height)
        for y in 0..<size.height {
            let (source, target) = (y * row, y * (row + 1) + 1)
            for x in 0..<row {
                rows[target + x] = rgba[source + x] &- (x < 4 ? 0 : rgba[source + x - 4])
            }
        }
        return rows
    }

    /// The row that begins there becomes what it was; false for an unknown filter.
    private func undo(
        _ filter: UInt8, _ rows: UnsafeMutableBufferPointer<UInt8>, at start: Int, _ count: Int,
        isFirst: Bool
    ) -> Bool {
        let above = start - count - 1
        switch filter {
        case 0: break
        case 1:
            for x in channels..<max(channels, count) {
                rows[start + x] &+= rows[start + x - channels]
            }
        case 2:
            guard !isFirst else { break }
            for x in 0..<count { rows[start + x] &+= rows[above + x] }
        case 3:
            for x in 0..<count {
                let left = x < channels ? 0 : Int(rows[start + x - channels])
                let up = isFirst ? 0 : Int(rows[above + x])
                rows[start + x] &+= UInt8((left + up) / 2)
            }
        case 4:
            for x in 0..<count {
                let isEdge = x < channels
                rows[start + x] &+= Self.paeth(
                    isEdge ? 0 : Int(rows[start + x - channels]),
                    isFirst ? 0 : Int(rows[above + x]),
                    isEdge || isFirst ? 0 : Int(rows[above + x - channels]))
            }
        default: return false
        }
        return true
    }

    /// The neighbour that is nearest to their plane.
    private static func paeth(_ left: Int, _ up: Int, _ corner: Int) -> UInt8 {
        let (toLeft, toUp) = (abs(up - corner), abs(left - corner))
        let toCorner = abs(left + up - 2 * corner)
        if toLeft <= toUp, toLeft <= toCorner { return UInt8(left) }
        return UInt8(toUp <= toCorner ? up : corner)
    }

    /// One row; alpha is there already.
    private func widen(
        _ rows: UnsafeMutableBufferPointer<UInt8>, from start: Int,
        to pixels: UnsafeMutableBufferPointer<UInt8>, at place: Int, _ width: Int
    ) {
        let isGrey = channels < 3
        for x in 0..<width {
            let (source, target) = (start + x * channels, place + 4 * x)
            pixels[target] = rows[source]
            pixels[target + 1] = rows[isGrey ? source : source + 1]
            pixels[target + 2] = rows[isGrey ? source : source + 2]
            if channels % 2 == 0 { pixels[target + 3] = rows[source + channels - 1] }
        }
    }
}
