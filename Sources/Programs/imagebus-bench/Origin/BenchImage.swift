/// An image that costs a codec about what a photograph does: smooth, with texture on it.
enum BenchImage {
    /// Its bytes as an uncompressed PNG.
    static func raw(width: Int, height: Int) -> [UInt8] {
        RawPNG(width: width, height: height) { y, row in
            var noise = UInt32(truncatingIfNeeded: y &* 2_654_435_761) | 1
            for x in 0..<width {
                noise ^= noise << 13
                noise ^= noise >> 17
                noise ^= noise << 5
                let grain = Int(noise >> 28)
                row[x * 3] = UInt8(x * 239 / width + grain)
                row[x * 3 + 1] = UInt8(y * 239 / height + grain)
                row[x * 3 + 2] = UInt8((x + y) * 239 / (width + height) + (x / 8 ^ y / 8) % 16)
            }
        }.bytes
    }
}
