import Vips

/// An image as 8-bit samples, with interleaved bands.
public struct Pixels: Hashable, Sendable {
    /// The number of columns.
    public let width: Int
    /// The number of rows.
    public let height: Int
    /// The number of samples per pixel.
    public let bands: Int
    /// The samples, row by row.
    public let samples: [UInt8]

    /// An image with these samples.
    public init(width: Int, height: Int, bands: Int, samples: [UInt8]) {
        (self.width, self.height) = (width, height)
        (self.bands, self.samples) = (bands, samples)
    }

    /// The samples of a pixel: red, green, blue and, if present, alpha.
    public func at(_ x: Int, _ y: Int) -> [UInt8] {
        let start = (y * width + x) * bands
        return Array(samples[start..<(start + bands)])
    }

    /// The size as text, such as `512x418`.
    public var size: String { "\(width)x\(height)" }
}

extension Pixels {
    /// Decodes a file, whose first bytes determine the format.
    public init(decoding file: [UInt8]) throws {
        let library = try VipsLibrary(loaders: [.jpeg, .png, .webp, .gif, .tiff, .heif, .jxl])
        self = try library.exclusively { () throws(VipsError) -> Pixels in
            try withStableBytes(of: file) { (bytes) throws(VipsError) in
                try Pixels(Self.load(bytes))
            }
        }
    }

    private init(_ image: VipsImage) throws(VipsError) {
        let header = image.header
        var failure: VipsError?
        let count = header.width * header.height * header.bands
        let samples = [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
            do throws(VipsError) {
                try image.write(to: UnsafeMutableRawBufferPointer(buffer))
            } catch {
                failure = error
            }
            written = count
        }
        if let failure { throw failure }
        self.init(
            width: header.width, height: header.height, bands: header.bands, samples: samples)
    }

    private static func load(_ bytes: UnsafeRawBufferPointer) throws(VipsError) -> VipsImage {
        switch bytes.first {
        case 0xFF where bytes[1] == 0x0A: try .load(bytes, by: .jxl)
        case 0xFF: try .jpeg(bytes)
        case 0x89: try .png(bytes)
        case UInt8(ascii: "G"): try .gif(bytes)
        case UInt8(ascii: "I"): try .load(bytes, by: .tiff)
        case 0: try .load(bytes, by: .heif)
        default: try .webp(bytes)
        }
    }

    /// The image encoded as JPEG.
    public func jpeg(quality: Int, progressive: Bool = false) throws -> [UInt8] {
        try encoded(.jpeg(quality: quality, progressive: progressive))
    }

    /// The image encoded as PNG.
    public func png(interlaced: Bool = false) throws -> [UInt8] {
        try encoded(.png(compression: 1, interlaced: interlaced))
    }

    /// The image encoded as WebP.
    public func webp(quality: Int) throws -> [UInt8] { try encoded(.webp(quality: quality)) }

    private func encoded(_ encoding: VipsEncoding) throws -> [UInt8] {
        try VipsLibrary().exclusively { () throws(VipsError) -> [UInt8] in
            var file: [UInt8] = []
            try withStableBytes(of: samples) { (bytes) throws(VipsError) in
                try VipsImage.pixels(bytes, width: width, height: height, bands: bands)
                    .save(encoding) {
                        file.append(contentsOf: $0)
                        return true
                    }
            }
            return file
        }
    }
}

/// libvips reads the bytes after the call, so they must stay at the same address meanwhile.
func withStableBytes<Result>(
    of bytes: [UInt8], _ body: (UnsafeRawBufferPointer) throws(VipsError) -> Result
) throws(VipsError) -> Result {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
    defer { copy.deallocate() }
    copy.copyBytes(from: bytes)
    return try body(UnsafeRawBufferPointer(copy))
}
