import CodecSupport
import Vips
import WebP

/// Interleaved pixels, or one plane.
struct Pixels {
    let width: Int
    let height: Int
    let bands: Int
    let spare: Int
    private(set) var bytes: [UInt8]

    var stride: Int { width * bands + spare }

    init(
        _ width: Int, _ height: Int, bands: Int = 1, spare: Int = 0,
        _ sample: (_ x: Int, _ y: Int, _ band: Int) -> Int
    ) {
        (self.width, self.height, self.bands, self.spare) = (width, height, bands, spare)
        bytes = []
        for y in 0..<height {
            for x in 0..<width {
                for band in 0..<bands { bytes.append(UInt8(clamping: sample(x, y, band))) }
            }
            bytes += [UInt8](repeating: 0xA5, count: spare)
        }
    }

    /// A smooth color gradient, opaque if there is alpha.
    static func gradient(_ width: Int, _ height: Int, bands: Int, spare: Int = 0) -> Pixels {
        Pixels(width, height, bands: bands, spare: spare) { x, y, band in
            switch band {
            case 0: 60 + x * 120 / width
            case 1: 60 + y * 120 / height
            case 2: 180 - x * 120 / width
            default: 255 - y * 100 / height
            }
        }
    }
}

func never() -> Bool { false }

/// Runs `body` with sources that point into all of `pixels`.
func withSources<Result>(
    _ pixels: [Pixels], _ body: ([SampleSource]) throws -> Result
) rethrows -> Result {
    let blocks = pixels.map { pixels in
        let block = UnsafeMutableRawBufferPointer.allocate(
            byteCount: pixels.bytes.count, alignment: 1)
        block.copyBytes(from: pixels.bytes)
        return block
    }
    defer { blocks.forEach { $0.deallocate() } }
    return try body(
        zip(pixels, blocks).map {
            SampleSource(memory: UnsafeRawBufferPointer($1), stride: $0.stride)
        })
}

func encode(
    planes: [Pixels], _ encoding: WebPEncoding, isCancelled: () -> Bool = never
) throws -> [UInt8] {
    var bytes: [UInt8] = []
    try withSources(planes) { sources in
        try WebPEncoder.encode(planes: sources, as: encoding) {
            bytes += $0
            return true
        } isCancelled: {
            isCancelled()
        }
    }
    return bytes
}

func encode(
    _ pixels: Pixels, _ encoding: WebPEncoding, isCancelled: () -> Bool = never
) throws -> [UInt8] {
    var bytes: [UInt8] = []
    try withSources([pixels]) { sources in
        try WebPEncoder.encode(pixels: sources[0], bands: pixels.bands, as: encoding) {
            bytes += $0
            return true
        } isCancelled: {
            isCancelled()
        }
    }
    return bytes
}

/// The image as decoded by libvips.
func decode(_ bytes: [UInt8]) throws -> (header: VipsHeader, samples: [UInt8]) {
    try VipsLibrary().exclusively {
        try bytes.withUnsafeBytes { bytes in
            let image = try VipsImage.webp(bytes)
            return try (image.header, image.samples())
        }
    }
}
