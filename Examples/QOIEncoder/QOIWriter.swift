/// An RGBA pixel.
struct QOIPixel: Equatable {
    var red, green, blue, alpha: UInt8

    /// The index among the 64 recently seen pixels.
    var place: Int { (Int(red) * 3 + Int(green) * 5 + Int(blue) * 7 + Int(alpha) * 11) & 63 }
}

/// Writes each pixel as part of a run, an index of a recently seen one, a small difference from the
/// previous one, or in full.
struct QOIWriter {
    private static let runMax: UInt8 = 62

    private var last = QOIPixel(red: 0, green: 0, blue: 0, alpha: 255)
    private var seen = [QOIPixel](
        repeating: QOIPixel(red: 0, green: 0, blue: 0, alpha: 0), count: 64)
    private var run: UInt8 = 0

    mutating func write(_ pixel: QOIPixel, to file: inout [UInt8]) {
        guard pixel != last else {
            run += 1
            if run == Self.runMax { endRun(in: &file) }
            return
        }
        endRun(in: &file)
        defer { last = pixel }
        guard seen[pixel.place] != pixel else { return file.append(UInt8(pixel.place)) }
        seen[pixel.place] = pixel
        guard pixel.alpha == last.alpha else {
            file += [0xFF, pixel.red, pixel.green, pixel.blue, pixel.alpha]
            return
        }
        file += step(to: pixel) ?? [0xFE, pixel.red, pixel.green, pixel.blue]
    }

    mutating func endRun(in file: inout [UInt8]) {
        if run > 0 { file.append(0xC0 | (run - 1)) }
        run = 0
    }

    /// One or two bytes if the color is close to the previous pixel's, else `nil`. Differences wrap
    /// around.
    private func step(to pixel: QOIPixel) -> [UInt8]? {
        let red = Int8(bitPattern: pixel.red &- last.red)
        let green = Int8(bitPattern: pixel.green &- last.green)
        let blue = Int8(bitPattern: pixel.blue &- last.blue)
        let parts = [red, green, blue].map { UInt8(bitPattern: $0 &+ 2) }
        if parts.allSatisfy({ $0 < 4 }) {
            return [0x40 | parts[0] << 4 | parts[1] << 2 | parts[2]]
        }
        let (redFromGreen, blueFromGreen) = (red &- green, blue &- green)
        guard (-32...31).contains(green), (-8...7).contains(redFromGreen),
            (-8...7).contains(blueFromGreen)
        else { return nil }
        return [
            0x80 | UInt8(bitPattern: green &+ 32),
            UInt8(bitPattern: redFromGreen &+ 8) << 4 | UInt8(bitPattern: blueFromGreen &+ 8),
        ]
    }
}
