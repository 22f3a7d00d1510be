internal import CVipsShims
internal import Synchronization

/// A loader of libvips, which reads one format from memory.
///
/// libvips blocks all of them until a `VipsLibrary` is made that names them.
public struct VipsLoader: Hashable, Sendable {
    /// libvips' name of it, such as `pngload_buffer`.
    public let name: String
    /// The module that has it, unless it is inside libvips; loaded when this is permitted.
    let module: String?
    /// What a line of libvips' text begins with where this loader, or what it calls, complains of
    /// the bytes.
    public let voices: [String]

    /// A loader of that name, which libvips may lack; `voices` besides the name and a colon.
    public init(_ name: String, module: String? = nil, voices: [String] = []) {
        (self.name, self.module) = (name, module)
        self.voices = ["\(name):"] + voices
    }

    /// Of JPEG: `shrink` 1, 2, 4 or 8.
    public static let jpeg = VipsLoader("jpegload_buffer", voices: ["VipsJpeg:"])
    /// Of PNG.
    public static let png = VipsLoader("pngload_buffer", voices: ["vipspng:"])
    /// Of WebP: `scale` up to 1, `page`, `n`.
    public static let webp = VipsLoader("webpload_buffer", voices: ["webp:", "webp2vips:"])
    /// Of GIF: `page`, `n`.
    public static let gif = VipsLoader("gifload_buffer", voices: ["gifload:"])
    /// Of TIFF: `page`, `n`. libtiff names the function that complains, and not even that of a file
    /// without directories.
    public static let tiff = VipsLoader(
        "tiffload_buffer",
        voices: ["tiff2vips:", "TIFF", "_TIFF", "source input:", "vips__tiff_openin_source:"])
    /// Of HEIC, AVIF and other HEIF; the image comes turned as it is displayed.
    public static let heif = VipsLoader(
        "heifload_buffer", module: "heif", voices: ["heif:", "heifload:"])
    /// Of PDF: `page`, `n`, `scale`. What poppler says comes through GLib.
    public static let pdf = VipsLoader(
        "pdfload_buffer", module: "poppler", voices: ["glib:", "pdfload_base:", "pdfload:"])
    /// Of JPEG XL; the image comes turned as it is displayed.
    public static let jxl = VipsLoader("jxlload_buffer", module: "jxl", voices: ["jxlload:"])
}

extension VipsLoader {
    /// Those of this process: libvips has one list for all.
    private static let permitted = Mutex<Set<VipsLoader>>([])

    /// Lets loaders through, for good.
    static func permit(_ loaders: [VipsLoader]) throws(VipsError) {
        for loader in loaders {
            guard cvips_permit_loader(loader.name, loader.module) == 0 else {
                throw .lacking("loader", loader.name, module: loader.module)
            }
            permitted.withLock { _ = $0.insert(loader) }
        }
    }

    /// Whether one of the permitted loaders says the line.
    static func speaks(_ line: Substring) -> Bool {
        permitted.withLock { loaders in
            loaders.contains { $0.voices.contains { line.hasPrefix($0) } }
        }
    }
}
