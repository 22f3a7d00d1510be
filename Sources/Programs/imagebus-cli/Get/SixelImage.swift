import Imagebus

/// An image in sixels (DEC's VT330/VT340 Programmer Reference Manual, volume 2, chapter 14): bands
/// of six rows, in each of which every colour has a row of characters. What is more than half
/// transparent is left as it was.
struct SixelImage {
    private static let bandRows = 6
    private static let opaqueAlpha: UInt8 = 128
    /// So many characters that are the same are written as a number and one of them.
    private static let repeatMin = 4
    private static let empty: UInt8 = 0x3F

    private let pixels: IndexedPixels
    private var text: [UInt8]
    /// Six pixels of one column and one colour, by colour and column.
    private var masks: [UInt8]

    /// Draws at the cursor.
    static func text(_ pixels: IndexedPixels) -> [UInt8] {
        var image = SixelImage(pixels)
        for y in stride(from: 0, to: pixels.size.height, by: bandRows) { image.addBand(y) }
        return image.text + Array("\u{1B}\\".utf8)
    }

    /// Whether something of it is left as it was.
    static func hasHoles(_ pixels: IndexedPixels) -> Bool {
        let isSeen = pixels.palette.map { $0[3] >= opaqueAlpha }
        return pixels.indexes.contains { !isSeen[Int($0)] }
    }

    private init(_ pixels: IndexedPixels) {
        self.pixels = pixels
        let size = pixels.size
        // Square pixels, and those without a colour stay.
        text = Array("\u{1B}P0;1q\"1;1;\(size.width);\(size.height)".utf8)
        for (index, colour) in pixels.palette.enumerated() where colour[3] >= Self.opaqueAlpha {
            let parts = colour[..<3].map { "\((Int($0) * 100 + 127) / 255)" }
            text += Array("#\(index);2;\(parts.joined(separator: ";"))".utf8)
        }
        masks = [UInt8](repeating: 0, count: pixels.palette.count * size.width)
    }

    private mutating func addBand(_ y: Int) {
        let width = pixels.size.width
        var used = [Bool](repeating: false, count: pixels.palette.count)
        for row in 0..<min(Self.bandRows, pixels.size.height - y) {
            for x in 0..<width {
                let index = Int(pixels.indexes[(y + row) * width + x])
                masks[index * width + x] |= 1 << UInt8(row)
                used[index] = true
            }
        }
        var isFirst = true
        for index in used.indices where used[index] {
            if pixels.palette[index][3] >= Self.opaqueAlpha {
                if !isFirst { text.append(UInt8(ascii: "$")) }
                isFirst = false
                text += Array("#\(index)".utf8)
                addRow(masks[index * width..<(index + 1) * width])
            }
            for x in 0..<width { masks[index * width + x] = 0 }
        }
        text.append(UInt8(ascii: "-"))
    }

    /// Without what is empty behind the last one.
    private mutating func addRow(_ row: ArraySlice<UInt8>) {
        let end = (row.lastIndex { $0 != 0 } ?? row.startIndex - 1) + 1
        var start = row.startIndex
        while start < end {
            let mask = row[start]
            let next = row[start..<end].firstIndex { $0 != mask } ?? end
            let count = next - start
            if count >= Self.repeatMin {
                text += Array("!\(count)".utf8)
                text.append(Self.empty + mask)
            } else {
                for _ in 0..<count { text.append(Self.empty + mask) }
            }
            start = next
        }
    }
}
