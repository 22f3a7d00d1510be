import Model

// Help of the options that describe a request: encoder settings and steps.

extension OutputSetting {
    /// The help text of the option.
    var help: String {
        switch self {
        case .progressive: "progressive JPEG, interlaced PNG and GIF"
        case .optimize: "optimized JPEG Huffman tables: smaller, slower"
        case .subsampling:
            "chroma subsampling of JPEG and AVIF: 420, 444, or auto: 420 below "
                + "quality 90 (auto)"
        case .colors:
            "palette size: PNG of at most 2, 4, 16 or 256 colors, GIF of any "
                + "power of two (256)"
        case .dither: "amount of dithering with a palette (100)"
        case .effort: "encoder effort, from fast to small: " + Self.efforts
        case .nearLossless: "near-lossless WebP: 0 for most preprocessing, 100 for none"
        case .alphaQuality: "quality of alpha in lossy WebP and AVIF (100)"
        case .sharpYUV: "sharper RGB to YUV conversion for WebP: slower"
        case .background: "background color for formats without transparency (#FFFFFF)"
        case .maxBytes:
            "target size, such as 50000 or 100K: reduce the quality of larger "
                + "results, in at most \(OutputOptions.triesMax) attempts"
        case .accept:
            "without --format, use the best of these comma-separated formats: "
                + OutputOptions.acceptable.map(\.name).joined(separator: ", ")
        case .icc:
            "srgb: convert colors to sRGB; keep: keep the colors and the profile "
                + "of the source (srgb)"
        case .metadata:
            "EXIF, XMP and IPTC to keep: none, copyright, or all, including the "
                + "location (none)"
        case .embedThumbnail: "embed a thumbnail of at most 160x160 in the EXIF of JPEG"
        case .depth: "bits per sample: \(Self.depths) (8)"
        case .hdr:
            "keep PQ and HLG with their bit depth if --format is "
                + Self.formatsOfHDR + " (convert to sRGB)"
        case .pass:
            "deliver sources in these formats unprocessed: "
                + OutputOptions.passable.map(\.name).joined(separator: ", ")
        }
    }

    /// `avif 8, 10, 12`
    private static var depths: String {
        ImageFormat.encodable.filter { $0.depths.count > 1 }
            .map { "\($0.name) " + $0.depths.map { "\($0)" }.joined(separator: ", ") }
            .joined(separator: "; ")
    }

    private static var formatsOfHDR: String {
        ImageFormat.encodable.filter(\.holdsHDR).map(\.name).joined(separator: " or ")
    }

    /// `webp 0..6 (4)`
    private static var efforts: String {
        ImageFormat.encodable.compactMap { format in
            guard let efforts = format.traits.output?.efforts else { return nil }
            return "\(format.name) \(efforts.range.lowerBound)..\(efforts.range.upperBound) "
                + "(\(efforts.usual))"
        }.joined(separator: ", ")
    }
}

extension StepSyntax {
    /// The help text of the option; empty if the table has none.
    var help: String { Self.helps[name] ?? "" }

    private static let helps: [String: String] = [
        "crop": "crop to a rectangle (repeatable)",
        "rotate": "rotate clockwise; corners are transparent unless a multiple of 90 (repeatable)",
        "flip": "mirror (repeatable)",
        "resize-to": """
        resize to a box in pixels or, with %, relative to the image, up to 10000%; a side of 0 \
        follows from the other one; MODE as in --mode (stretch); enlarge, or no-enlarge; MIN: \
        minimum size WxH, a side of 0 is not limited; GRAVITY as in crop-to: the part that fill \
        keeps (repeatable)
        """,
        "scale-down": "scale down images above BYTES, at four bytes per pixel (repeatable)",
        "crop-to": """
        crop to a size in pixels or, with %, relative to the image; GRAVITY: center, north, \
        northeast … northwest, a position moved inwards (north:0:5%), fp:X:Y (focal point, 0 to \
        1), px:X:Y (in pixels), attention or entropy (repeatable)
        """,
        "crop-ratio": """
        crop to an aspect ratio, such as 16:9 or 1:1; GRAVITY as in crop-to (repeatable)
        """,
        "trim": """
        trim edges of a color, #RRGGBB or #AARRGGBB (that of the top left corner), with a \
        tolerance from 0 to 255, such as 10; EQUAL: horizontal, vertical or both, to remove \
        equally much at opposite edges (repeatable)
        """,
        "pad": """
        pad to at least this size, transparent or with a color (#AARRGGBB too); GRAVITY as in \
        crop-to, but only a position (repeatable)
        """,
        "pad-ratio": "pad to an aspect ratio, as pad does (repeatable)",
        "extend": """
        add pixels at each edge: transparent, or FILL: a color (#RRGGBB), copy (the edge), repeat \
        or mirror (repeatable)
        """,
        "flatten": "flatten onto a color, removing transparency (repeatable)",
        "grayscale": "convert to grayscale (repeatable)",
        "sepia": "apply a sepia tone (repeatable)",
        "invert": "invert the colors (repeatable)",
        "brightness": "adjust the brightness by -100 to 100 (repeatable)",
        "contrast": "adjust the contrast by -100 to 100 (repeatable)",
        "saturation": "adjust the saturation by -100 (gray) to 100 (repeatable)",
        "gamma": "gamma correction, 0.1 to 10; above 1 is lighter (repeatable)",
        "color-matrix": """
        mix colors: RED, GREEN, BLUE are each R:G:B[:OFFSET], the weights of red, green and blue \
        and an offset, of which 1 is full (repeatable)
        """,
        "modulate": """
        multiply lightness and saturation by 0 to 10000 (1), and rotate the hue by -360 to 360 \
        degrees (0; repeatable)
        """,
        "monochrome": "shades of one color, with an intensity of 0 to 1 (1; repeatable)",
        "blur": "blur with a radius of up to 100 pixels (repeatable)",
        "sharpen": """
        sharpen with a radius of up to 10 pixels and an amount of 0 to 100 (1; repeatable)
        """,
        "pixelate": "pixelate with squares of 2 to 1000 pixels (repeatable)",
        "vignette": "darken the corners by 0 to 100 (repeatable)",
        "round": """
        round the corners with a radius in pixels; CORNERS: all, or some of tl, tr, bl and br, \
        such as tl+tr; BORDER: width of a border in pixels, with its color (#AARRGGBB too; \
        repeatable)
        """,
        "tint": """
        blend with a color; MODE: source-in (replaces the color of opaque pixels, default), \
        multiply, screen, overlay, color … (repeatable)
        """,
        "overlay": """
        overlay another image at X, Y from the left and top edge, or from the right and bottom \
        edge if negative (repeatable, 4);
        WORDS, comma-separated: a position (GRAVITY as in pad; X, Y move it inwards), a size (WxH, \
        or 20%x20% of the image), repeat, a MODE (as in tint), an opacity, such as \
        southeast,20%x20%,0.5,http://host/mark.png;
        a URL that ends in a comma and a number requires X, Y and OPACITY
        """,
        "custom": "a step provided by a plug-in (repeatable)",
    ]
}
