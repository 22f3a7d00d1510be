internal import CRSVG
internal import CRSVGShims

// CRSVG is imported for its link line, which acts only where Swift imports the module.

/// An SVG, read whole. It has no address: what it names outside of itself is not there.
public struct SVGDrawing: ~Copyable {
    private let handle: crsvg_drawing
    /// Columns at 96 to the inch, with a fraction; 0 where nothing says or shows how large it is.
    public let width: Double
    /// Rows, likewise.
    public let height: Double

    /// Columns or rows that are drawn at most, which is what the surfaces of cairo have.
    public static let sideMax = 32_767

    /// Reads a drawing, of which no byte is used any more afterwards.
    public init(_ bytes: UnsafeRawBufferPointer) throws(SVGError) {
        var text: UnsafeMutablePointer<CChar>?
        guard let handle = crsvg_open(bytes.baseAddress, bytes.count, &text) else {
            throw SVGError(taking: text)
        }
        var (width, height) = (0.0, 0.0)
        crsvg_size(handle, &width, &height)
        (self.handle, self.width, self.height) = (handle, width, height)
    }

    deinit { crsvg_close(handle) }

    /// Draws all of it in so many pixels of red, green, blue and straight alpha, four bytes for
    /// each, which have to be 0 before. Sides from 1 to `sideMax`.
    public borrowing func draw(
        into pixels: UnsafeMutableRawBufferPointer, width: Int, height: Int
    ) throws(SVGError) {
        precondition((1...Self.sideMax).contains(width) && (1...Self.sideMax).contains(height))
        precondition(pixels.count == 4 * width * height, "four bytes for each pixel")
        var text: UnsafeMutablePointer<CChar>?
        let status = crsvg_draw(
            handle, Int32(width), Int32(height), pixels.baseAddress, &text)
        guard status == 0 else {
            throw SVGError(taking: text, lacksMemory: Int(status) == CRSVG_NO_MEMORY)
        }
    }
}

/// Why librsvg does not read or draw something.
public struct SVGError: Error, Hashable, Sendable {
    /// In the words of librsvg; for the log, not for a client.
    public let text: String
    /// Whether there is too little memory for a drawing of that size.
    public let lacksMemory: Bool

    fileprivate init(taking text: UnsafeMutablePointer<CChar>?, lacksMemory: Bool = false) {
        self.text = text.map { String(cString: $0) } ?? ""
        self.lacksMemory = lacksMemory
        crsvg_free_text(text)
    }
}

/// The fonts that texts of drawings are drawn with.
public enum SVGFonts {
    /// Reads which fonts there are, for the rest of the process: later only the files of fonts are
    /// opened. Returns false where this machine says nothing of fonts; texts are left out then.
    public static func load() -> Bool { crsvg_load_fonts() == 0 }
}
