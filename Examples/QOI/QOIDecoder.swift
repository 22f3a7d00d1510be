import ImagebusWorker

/// Reads the pixels of a file. Each is part of a run, one of the 64 most recently seen by hash, a
/// small difference from the previous one, or stored in full.
struct QOIDecoder {
    private struct Pixel {
        var (red, green, blue, alpha) = (UInt8(0), UInt8(0), UInt8(0), UInt8(0))

        var place: Int {
            (Int(red) * 3 + Int(green) * 5 + Int(blue) * 7 + Int(alpha) * 11) & 63
        }

        mutating func step(_ red: UInt8, _ green: UInt8, _ blue: UInt8) {
            (self.red, self.green, self.blue) =
                (self.red &+ red, self.green &+ green, self.blue &+ blue)
        }
    }

    private var next = QOIHeader.byteCount
    private var pixel = Pixel()
    private var seen = [Pixel](repeating: Pixel(), count: 64)

    init() { pixel.alpha = 255 }

    /// Fills `pixels`, which has `bands` samples per pixel. Calls `look` every 64 KiB.
    mutating func decode(
        _ data: Span<UInt8>, into pixels: inout MutableSpan<UInt8>, bands: Int,
        look: () throws -> Void
    ) throws {
        let end = data.count - QOIHeader.endByteCount
        var filled = 0
        while filled < pixels.count {
            let (start, count) = (filled, try read(data, end))
            guard count <= (pixels.count - filled) / bands else {
                throw InvalidInput("it has too many pixels")
            }
            for _ in 0..<count {
                pixels[filled] = pixel.red
                pixels[filled + 1] = pixel.green
                pixels[filled + 2] = pixel.blue
                if bands == 4 { pixels[filled + 3] = pixel.alpha }
                filled += bands
            }
            if start >> 16 != filled >> 16 { try look() }
        }
    }

    /// The next pixel and its run length.
    private mutating func read(_ data: Span<UInt8>, _ end: Int) throws -> Int {
        let tag = try byte(data, end)
        var count = 1
        switch tag {
        case 0xFE, 0xFF:
            pixel.red = try byte(data, end)
            pixel.green = try byte(data, end)
            pixel.blue = try byte(data, end)
            if tag == 0xFF { pixel.alpha = try byte(data, end) }
        case ..<0x40: pixel = seen[Int(tag)]
        case ..<0x80: pixel.step((tag >> 4 & 3) &- 2, (tag >> 2 & 3) &- 2, (tag & 3) &- 2)
        case ..<0xC0:
            let (green, second) = ((tag & 63) &- 32, try byte(data, end))
            pixel.step(green &- 8 &+ (second >> 4), green, green &- 8 &+ (second & 15))
        default: count = Int(tag & 63) + 1
        }
        seen[pixel.place] = pixel
        return count
    }

    private mutating func byte(_ data: Span<UInt8>, _ end: Int) throws -> UInt8 {
        guard next < end else { throw InvalidInput("it ends early") }
        defer { next += 1 }
        return data[next]
    }
}
