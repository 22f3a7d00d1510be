import CodecSupport
import JPEG

/// A smooth planar image that can be encoded to and decoded from JPEG.
struct Image {
    let encoding: JPEGEncoding
    let planes: [TestPlane]

    init(
        _ width: Int, _ height: Int, _ subsampling: PlaneSubsampling, quality: Int = 95,
        isProgressive: Bool = false, spare: Int = 0
    ) {
        let encoding = JPEGEncoding(
            width: width, height: height, subsampling: subsampling, quality: quality,
            isProgressive: isProgressive)
        self.encoding = encoding
        planes = (0..<subsampling.planeCount).map { index in
            let size = subsampling.size(ofPlane: index, width, height)
            let plane = TestPlane(width: size.width, height: size.height, spare: spare)
            for y in 0..<size.height {
                for x in 0..<size.width {
                    plane[x, y] =
                        40 + (x * (index + 1) + y * (3 - index)) * 160 / (3 * (width + height))
                }
            }
            return plane
        }
    }

    /// Encodes into chunks of memory of `piece` bytes.
    func encoded(
        piece: Int = 1 << 16, isCancelled: () -> Bool = { false }
    ) throws(CodecError) -> [UInt8] {
        var pieces: [UnsafeMutableRawBufferPointer] = []
        defer { pieces.forEach { $0.deallocate() } }
        let count = try JPEGPlaneEncoder.encode(planes.map(\.source), as: encoding) { _ in
            pieces.append(.allocate(byteCount: piece, alignment: 1))
            return pieces.last
        } isCancelled: {
            isCancelled()
        }
        return Array(pieces.joined().prefix(count))
    }
}

/// Decodes all planes of `bytes` into memory surrounded by guard bytes.
func decode(
    _ bytes: [UInt8], reduction: Int = 1, spare: Int = 0, scansMax: Int = 500,
    coefficientBytesMax: Int = 0, isCancelled: () -> Bool = { false }
) throws(CodecError) -> [TestPlane] {
    // A copy of exactly that many bytes, so that the address sanitizer detects reads past the end.
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    defer { copy.deallocate() }
    copy.copyBytes(from: bytes)
    let decoder = try JPEGPlaneDecoder(
        UnsafeRawBufferPointer(copy), reduction: reduction, scansMax: scansMax,
        coefficientBytesMax: coefficientBytesMax)
    let planes = decoder.planes.map {
        TestPlane(width: $0.paddedWidth, height: $0.paddedHeight, spare: spare)
    }
    try decoder.decode(into: planes.map(\.target), isCancelled: isCancelled)
    return planes
}

func header(_ bytes: [UInt8]) throws -> JPEGHeader {
    try bytes.withUnsafeBytes { try JPEGHeader($0) }
}

func layout(_ bytes: [UInt8], reduction: Int = 1) throws -> [JPEGPlane] {
    try bytes.withUnsafeBytes { try JPEGPlaneDecoder($0, reduction: reduction).planes }
}
