// CPixbuf is imported for its link line, which acts only where Swift imports the module.
internal import CPixbuf
internal import CPixbufShims

/// A loader of gdk-pixbuf, which reads one format from memory.
public struct PixbufLoader: Hashable, Sendable {
    private let name: String

    /// The loader for BMP.
    public static let bmp = PixbufLoader(name: "bmp")

    /// Loads what it is made of, which may be a module of its own: later no file is opened for it.
    /// Returns false where this machine has no such loader.
    public func load() -> Bool { cpixbuf_load(name) == 0 }

    /// Decodes all of an image.
    ///
    /// - Parameters:
    ///   - bytes: the file.
    ///   - width: columns, as its header says. An image of another size is refused before there are
    ///     pixels of it.
    ///   - height: rows, likewise.
    ///   - bands: 3, or 4 with straight alpha; one that the image has beyond that is left out.
    ///   - pixels: `width` × `height` × `bands` bytes.
    /// - Throws: for bytes that are damaged or incomplete, or that the loader does not read.
    public func decode(
        _ bytes: UnsafeRawBufferPointer, width: Int, height: Int, bands: Int,
        into pixels: UnsafeMutableRawBufferPointer
    ) throws(PixbufError) {
        precondition(bands == 3 || bands == 4)
        precondition(pixels.count == width * height * bands, "a byte for each sample")
        var text: UnsafeMutablePointer<CChar>?
        let status = name.withCString { name in
            cpixbuf_decode(
                cpixbuf_image(
                    loader: name, width: Int32(width), height: Int32(height), bands: Int32(bands)),
                bytes.baseAddress, bytes.count, pixels.baseAddress, &text)
        }
        guard status == 0 else { throw PixbufError(taking: text) }
    }
}

/// Why gdk-pixbuf does not read something.
public struct PixbufError: Error, Hashable, Sendable {
    /// In its own words; for the log, not for a client.
    public let text: String

    fileprivate init(taking text: UnsafeMutablePointer<CChar>?) {
        self.text = text.map { String(cString: $0) } ?? ""
        cpixbuf_free_text(text)
    }
}
