internal import CRSVGShims

/// The fonts that texts of drawings are drawn with.
public enum SVGFonts {
    /// Reads which fonts there are, for the rest of the process: later only the files of fonts are
    /// opened. Returns false where this machine says nothing of fonts; texts are left out then.
    public static func load() -> Bool { crsvg_load_fonts() == 0 }
}
