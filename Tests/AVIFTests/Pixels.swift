import AVIF
import CodecSupport
import TestKit

/// Interleaved pixels, or a single plane.
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

    /// A smooth color gradient, with varying transparency if there is an alpha channel.
    static func gradient(_ width: Int, _ height: Int, bands: Int, spare: Int = 0) -> Pixels {
        Pixels(width, height, bands: bands, spare: spare) { x, y, band in
            switch band {
            case 0: 60 + x * 120 / width
            case 1: 60 + y * 120 / height
            case 2: 180 - x * 120 / width
            default: 254 - y * 100 / height
            }
        }
    }

    /// The samples without the padding between rows.
    var samples: [UInt8] {
        (0..<height).flatMap { bytes[($0 * stride)..<($0 * stride + width * bands)] }
    }
}

func never() -> Bool { false }

/// Runs `body` with sources that point into `pixels`.
private func withSources<Result>(
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

/// The result of encoding.
struct Encoded {
    private(set) var bytes: [UInt8] = []
    private(set) var hasAlpha = false

    init(planes: [Pixels], _ encoding: AVIFEncoding) throws {
        try withSources(planes) { sources in
            try AVIFEncoder.encode(planes: sources, as: encoding) {
                bytes += $0
                return true
            } isCancelled: {
                false
            }
        }
    }

    init(
        _ pixels: Pixels, _ encoding: AVIFEncoding, takesBytes: Bool = true,
        isCancelled: () -> Bool = never
    ) throws {
        hasAlpha = try withSources([pixels]) { sources in
            try AVIFEncoder.encode(pixels: sources[0], bands: pixels.bands, as: encoding) {
                bytes += $0
                return takesBytes
            } isCancelled: {
                isCancelled()
            }
        }
    }

    /// The samples of all pixels as decoded by libheif.
    func samples() throws -> [UInt8] {
        let folder = TemporaryDirectory()
        let (file, raw) = (folder.write(bytes, to: "a.avif"), folder.file("a.raw"))
        try Tool.run(["vips", "rawsave", file, raw])
        return try Self.read(raw)
    }

    /// The planes one after the other as decoded by `avifdec`.
    func planes() throws -> [UInt8] {
        let folder = TemporaryDirectory()
        let (file, planes) = (folder.write(bytes, to: "a.avif"), folder.file("a.y4m"))
        try Tool.run(["avifdec", file, planes])
        let read = try Self.read(planes)
        let mark = Array("\nFRAME\n".utf8)
        guard let start = read.indices.first(where: { read[$0...].starts(with: mark) }) else {
            throw StackFailure("avifdec wrote no frame")
        }
        return Array(read[(start + mark.count)...])
    }

    /// The properties that `avifdec` prints, one per line.
    func properties() throws -> String {
        let folder = TemporaryDirectory()
        let file = folder.write(bytes, to: "a.avif")
        return String(decoding: try Tool.run(["avifdec", "--info", file]), as: UTF8.self)
    }

    private static func read(_ path: String) throws -> [UInt8] {
        guard let bytes = FileBytes.read(path) else { throw StackFailure("there is no \(path)") }
        return bytes
    }
}
