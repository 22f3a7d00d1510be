// CPixbuf is imported for its linker flags, which only apply if Swift imports the module.
internal import CPixbuf
internal import CPixbufShims
public import CodecSupport

/// A gdk-pixbuf loader, which reads one format from memory.
public struct PixbufLoader: Hashable, Sendable {
    private let name: String

    /// The loader for BMP.
    public static let bmp = PixbufLoader(name: "bmp")

    /// Loads its code, which may be a separate module, so that no file has to be opened later.
    /// Returns `false` if this machine doesn't have the loader.
    public func load() -> Bool { cpixbuf_load(name) == 0 }

    /// Decodes a complete image.
    ///
    /// - Parameters:
    ///   - bytes: the file.
    ///   - width: the width in the file's header. An image of another size is refused before its
    ///     pixels are allocated.
    ///   - height: the height in the file's header.
    ///   - bands: 3, or 4 with straight alpha. With 3, the image's alpha is dropped.
    ///   - pixels: `width` × `height` × `bands` bytes.
    /// - Throws: `corrupt`, also if the loader doesn't support the bytes; `outOfMemory`.
    public func decode(
        _ bytes: UnsafeRawBufferPointer, width: Int, height: Int, bands: Int,
        into pixels: UnsafeMutableRawBufferPointer
    ) throws(CodecError) {
        precondition(bands == 3 || bands == 4)
        precondition(pixels.count == width * height * bands, "a byte for each sample")
        var text: UnsafeMutablePointer<CChar>?
        let status = name.withCString { name in
            cpixbuf_decode(
                cpixbuf_image(
                    loader: name, width: Int32(width), height: Int32(height), bands: Int32(bands)),
                bytes.baseAddress, bytes.count, pixels.baseAddress, &text)
        }
        guard status == 0 else {
            defer { cpixbuf_free_text(text) }
            throw CodecError(
                kind: Int(status) == CPIXBUF_NO_MEMORY ? .outOfMemory : .corrupt,
                text: text.map { String(cString: $0) } ?? "")
        }
    }
}
