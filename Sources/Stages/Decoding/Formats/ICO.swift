import ImageModel
import Pixbuf
import Vips

/// Icons of Windows: the largest and deepest image of the file. It is a PNG, or a bitmap with a
/// mask.
struct ICODecoder: FormatDecoder {
    let format = ImageFormat.ico
    let loaders = [VipsLoader.png]

    func prepare() -> Bool { PixbufLoader.ico.load() }

    func header(_ bytes: UnsafeRawBufferPointer) throws(VipsError) -> VipsImage {
        let icon = try Self.largest(of: bytes)
        if icon.isPNG { return try .checkedPNG(Self.part(bytes, icon)) }
        return try .blank(width: icon.size.width, height: icon.size.height, bands: 4)
    }

    func open(
        _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale
    ) throws(VipsError) -> VipsImage {
        let icon = try Self.largest(of: bytes)
        if icon.isPNG { return try .checkedPNG(Self.part(bytes, icon)) }
        let file = Self.alone(icon, of: bytes)
        return try withExtendedLifetime(file) { () throws(VipsError) in
            try .pixbuf(UnsafeRawBufferPointer(file.bytes), by: .ico, icon.size, bands: 4)
        }
    }

    private static func largest(of bytes: UnsafeRawBufferPointer) throws(VipsError) -> IconImage {
        guard let icon = HeaderBytes(Span(_unsafeBytes: bytes)).largestIcon else {
            throw VipsError(kind: .corrupt, operation: "ico", text: "no image that can be read")
        }
        return icon
    }

    private static func part(
        _ bytes: UnsafeRawBufferPointer, _ icon: IconImage
    ) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[icon.range])
    }

    /// A file that has nothing but this image: the loader chooses by the sides in the directory,
    /// which anyone may have written.
    private static func alone(_ icon: IconImage, of bytes: UnsafeRawBufferPointer) -> ZeroedBytes {
        let header: [UInt8] = [0, 0, 1, 0, 1, 0]
        let sides = [icon.size.width, icon.size.height].map { UInt8(truncatingIfNeeded: $0) }
        let start = UInt32(header.count + 16)
        let entry =
            sides + [0, 0, 1, 0, UInt8(truncatingIfNeeded: icon.depth), 0]
            + littleEndian(UInt32(truncatingIfNeeded: icon.range.count)) + littleEndian(start)
        let file = ZeroedBytes(count: Int(start) + icon.range.count)
        file.bytes.copyBytes(from: header + entry)
        UnsafeMutableRawBufferPointer(rebasing: file.bytes[Int(start)...])
            .copyMemory(from: part(bytes, icon))
        return file
    }

    private static func littleEndian(_ number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}
