import Vips

/// Encoded images that the tests make for themselves.
enum Sources {
    /// Samples as the closure says, encoded; the quality of JPEG and WebP is the best.
    static func encoded(
        _ encoding: VipsEncoding, _ width: Int, _ height: Int, bands: Int = 3,
        _ sample: (_ x: Int, _ y: Int, _ band: Int) -> Int
    ) throws -> [UInt8] {
        var samples: [UInt8] = []
        samples.reserveCapacity(width * height * bands)
        for y in 0..<height {
            for x in 0..<width {
                for band in 0..<bands { samples.append(UInt8(clamping: sample(x, y, band))) }
            }
        }
        return try VipsLibrary().exclusively { () throws(VipsError) -> [UInt8] in
            try encode(samples, width, height, bands, encoding)
        }
    }

    /// Red in the top left quarter, the rest white.
    static func marked(_ encoding: VipsEncoding, _ width: Int, _ height: Int) throws -> [UInt8] {
        try encoded(encoding, width, height) { x, y, band in
            x < width / 2 && y < height / 2 && band > 0 ? 0 : 255
        }
    }

    /// A large image of which few pixels are computed here.
    static func large(_ encoding: VipsEncoding, side: Int) throws -> [UInt8] {
        try VipsLibrary().exclusively { () throws(VipsError) -> [UInt8] in
            var bytes: [UInt8] = []
            let small = [UInt8](unsafeUninitializedCapacity: 64 * 64 * 3) { buffer, count in
                for index in 0..<(64 * 64 * 3) { buffer[index] = UInt8(index * 7919 % 251) }
                count = 64 * 64 * 3
            }
            let scale = Double(side) / 64
            try withBytes(of: small) { (pixels) throws(VipsError) in
                try VipsImage.pixels(pixels, width: 64, height: 64, bands: 3)
                    .enlarged(
                        horizontally: scale, vertically: scale, width: side, height: side
                    )
                    .save(encoding) {
                        bytes.append(contentsOf: $0)
                        return true
                    }
            }
            return bytes
        }
    }

    private static func encode(
        _ samples: [UInt8], _ width: Int, _ height: Int, _ bands: Int, _ encoding: VipsEncoding
    ) throws(VipsError) -> [UInt8] {
        var bytes: [UInt8] = []
        try withBytes(of: samples) { (pixels) throws(VipsError) in
            try VipsImage.pixels(pixels, width: width, height: height, bands: bands)
                .save(encoding) {
                    bytes.append(contentsOf: $0)
                    return true
                }
        }
        return bytes
    }

    private static func withBytes(
        of samples: [UInt8], _ body: (UnsafeRawBufferPointer) throws(VipsError) -> Void
    ) throws(VipsError) {
        let copy = UnsafeMutableRawBufferPointer.allocate(
            byteCount: samples.count, alignment: 16)
        defer { copy.deallocate() }
        copy.copyBytes(from: samples)
        try body(UnsafeRawBufferPointer(copy))
    }
}
