import Glibc
import Model
import TestKit
import Testing
import Vips

/// A file of each kind that is shown while it arrives, and libvips' decode of the whole file.
enum PartialFile: String, CaseIterable {
    case baseline, restarts, progressive, gray = "grey"
    case png, adam7, palette, transparent
    case lossy, lossless, transparentWebP
    case gif

    static let (width, height) = (400, 300)

    var isProgressive: Bool { self == .progressive || self == .adam7 }
    var isJPEG: Bool { [.baseline, .restarts, .progressive, .gray].contains(self) }
    var bands: Int { self == .gray ? 1 : [.transparent, .transparentWebP].contains(self) ? 4 : 3 }

    func bytes() throws -> [UInt8] {
        if self == .restarts { return try Self.withRestarts(Self.png.bytes()) }
        return try Sources.encoded(encoding, Self.width, Self.height, bands: bands, Self.sample)
    }

    private var encoding: VipsEncoding {
        switch self {
        case .baseline, .restarts, .gray: .jpeg(quality: 90)
        case .progressive: .jpeg(quality: 90, progressive: true)
        case .png, .transparent: .png(compression: 6)
        case .adam7: .png(compression: 6, interlaced: true)
        case .palette: .png(compression: 6, palette: VipsEncoding.Palette(bits: 8, quality: 80))
        case .lossy, .transparentWebP: .webp(quality: 90)
        case .lossless: .webp(quality: 90, lossless: true)
        case .gif: .gif(bits: 8)
        }
    }

    /// Gradients, a circle and noise-like texture.
    private static func sample(_ x: Int, _ y: Int, _ band: Int) -> Int {
        if band == 3 { return 55 + x / 2 }
        let (across, down) = (x - 200, y - 150)
        let isInside = across * across + down * down < 100 * 100
        let noise = (x * 7919 + y * 104_729 + band * 31) % 24
        return (isInside ? 200 - band * 60 : (x + band * 40) / 3 + y / 4) + noise
    }

    /// A JPEG with a restart marker after each MCU: more than libvips tolerates as warnings.
    private static func withRestarts(_ png: [UInt8]) throws -> [UInt8] {
        let folder = TemporaryDirectory()
        let (input, output) = (folder.write(png, to: "a.png"), folder.file("a.jpg"))
        try Tool.run(["vips", "jpegsave", input, output, "--Q", "85", "--restart-interval", "1"])
        return try #require(FileBytes.read(output))
    }

    /// A PNG by ImageMagick whose 16-bit samples don't fit into 8 bits.
    static func deepPNG() throws -> [UInt8] {
        try Tool.run(
            ["convert-im6.q16", "png:-", "-resize", "310x230!", "png48:-"], input: png.bytes())
    }

    /// All samples of a whole file, decoded by libvips alone.
    static func samples(of bytes: [UInt8], by loader: VipsLoader) throws -> [UInt8] {
        try VipsLibrary(loaders: [loader]).exclusively { () throws(VipsError) -> [UInt8] in
            let memory = UnsafeMutableRawBufferPointer.allocate(
                byteCount: bytes.count, alignment: 16)
            defer { memory.deallocate() }
            memory.copyBytes(from: bytes)
            let image = try VipsImage.load(UnsafeRawBufferPointer(memory), by: loader)
            return try image.withPixels { pixels throws(VipsError) in Array(pixels) }
        }
    }

    var loader: VipsLoader {
        switch self {
        case .baseline, .restarts, .progressive, .gray: .jpeg
        case .png, .adam7, .palette, .transparent: .png
        case .lossy, .lossless, .transparentWebP: .webp
        case .gif: .gif
        }
    }

    var format: ImageFormat {
        switch loader {
        case .jpeg: .jpeg
        case .png: .png
        case .webp: .webp
        default: .gif
        }
    }

    /// All samples of the whole file.
    func samples() throws -> [UInt8] { try Self.samples(of: bytes(), by: loader) }

    /// Samples per row.
    var stride: Int { Self.width * bands }
}

func decimalLogarithm(_ value: Double) -> Double { log10(value) }
