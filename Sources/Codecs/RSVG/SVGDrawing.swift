internal import CRSVG
internal import CRSVGShims
public import CodecSupport

// CRSVG is imported for its linker flags, which only apply if Swift imports the module.

/// A parsed SVG. It has no base URL, so external references aren't resolved.
public struct SVGDrawing: ~Copyable {
    private let handle: crsvg_drawing
    /// The fractional width in pixels at 96 per inch; 0 if it can't be determined.
    public let width: Double
    /// The fractional height in pixels, likewise.
    public let height: Double

    /// The largest width or height that can be drawn: the limit of cairo's surfaces.
    public static let sideMax = 32_767

    /// Parses a drawing. The bytes aren't used afterwards.
    ///
    /// - Throws: `corrupt`, `outOfMemory`.
    public init(_ bytes: UnsafeRawBufferPointer) throws(CodecError) {
        var text: UnsafeMutablePointer<CChar>?
        var status: Int32 = 0
        guard let handle = crsvg_open(bytes.baseAddress, bytes.count, &status, &text) else {
            throw CodecError(status, taking: text)
        }
        var (width, height) = (0.0, 0.0)
        crsvg_size(handle, &width, &height)
        (self.handle, self.width, self.height) = (handle, width, height)
    }

    deinit { crsvg_close(handle) }

    /// Draws the whole image at this size, as straight-alpha RGBA with four bytes per pixel. The
    /// memory must be zeroed. Sides are 1 to `sideMax`.
    ///
    /// - Throws: `corrupt`; `outOfMemory`, also for the size.
    public borrowing func draw(
        into pixels: UnsafeMutableRawBufferPointer, width: Int, height: Int
    ) throws(CodecError) {
        precondition((1...Self.sideMax).contains(width) && (1...Self.sideMax).contains(height))
        precondition(pixels.count == 4 * width * height, "four bytes for each pixel")
        var text: UnsafeMutablePointer<CChar>?
        let status = crsvg_draw(
            handle, Int32(width), Int32(height), pixels.baseAddress, &text)
        guard status == 0 else { throw CodecError(status, taking: text) }
    }
}

extension CodecError {
    fileprivate init(_ status: Int32, taking text: UnsafeMutablePointer<CChar>?) {
        self.init(
            kind: Int(status) == CRSVG_NO_MEMORY ? .outOfMemory : .corrupt,
            text: text.map { String(cString: $0) } ?? "")
        crsvg_free_text(text)
    }
}

/// The fonts used for text in drawings.
public enum SVGFonts {
    /// Loads the list of fonts for the rest of the process, so that only font files are opened
    /// later. Returns `false` if this machine has no font configuration; text is then omitted.
    public static func load() -> Bool { crsvg_load_fonts() == 0 }
}
