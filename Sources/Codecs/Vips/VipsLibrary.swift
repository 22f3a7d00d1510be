internal import CVips
internal import CVipsShims
internal import Synchronization

// CVips is imported for its linker flags, which only apply if Swift imports the module.

/// Proof that libvips has been started; required to create images.
///
/// The operation cache is off. All loaders except the named ones are blocked, as are savers that
/// libvips doesn't trust. Nothing is written to stderr: libvips' warnings go to `onWarning`. Pixels
/// are always kept in memory, however many there are, so callers must limit an image's size by its
/// header.
public struct VipsLibrary: Sendable {
    /// Receives a message of libvips or GLib. Called on any thread, including libvips' own.
    public typealias WarningHandler = @Sendable (_ domain: String, _ message: String) -> Void

    private static let warningHandler = Mutex<WarningHandler?>(nil)

    private static let errorBuffer = Mutex<Void>(())

    /// The result of starting libvips, which is possible only once per process.
    private static let started: Result<Void, VipsError> = {
        guard cvips_start(passWarning) == 0 else {
            return .failure(VipsError.fromLibrary("vips_init", otherwise: .internal))
        }
        return .success(())
    }()

    /// Starts libvips on the first call in a process; later calls only apply their arguments.
    ///
    /// - Parameters:
    ///   - concurrency: the number of threads per image, process-wide, 1 to 1024. Use 1 if
    ///     parallelism comes from processes.
    ///   - loaders: the loaders to permit, in addition to those of earlier calls.
    ///   - savers: the untrusted savers to permit, in addition to those of earlier calls.
    ///   - onWarning: replaces the handler of an earlier call unless `nil`.
    /// - Throws: `VipsError` of kind `internal` if libvips can't start or lacks a loader or saver.
    public init(
        concurrency: Int = 1, loaders: [VipsLoader] = [.jpeg, .png, .webp, .gif],
        savers: [VipsSaver] = [], onWarning: WarningHandler? = nil
    ) throws(VipsError) {
        precondition(
            (1...1024).contains(concurrency), "concurrency must be a positive number of threads")
        if let onWarning { Self.warningHandler.withLock { $0 = onWarning } }
        try Self.started.get()
        try VipsLoader.permit(loaders)
        try VipsSaver.permit(savers)
        cvips_set_concurrency(Int32(concurrency))
    }

    /// Runs `body` exclusively among all threads of the process. libvips has one error buffer for
    /// the process, so work whose errors must be attributed belongs in here. The buffer is cleared
    /// first, because loaders leave texts in it without failing. Not reentrant.
    public func exclusively<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var result: Swift.Result<Result, Failure>?
        Self.errorBuffer.withLock { _ in
            cvips_forget_errors()
            do throws(Failure) {
                result = .success(try body())
            } catch {
                result = .failure(error)
            }
        }
        guard let result else { preconditionFailure("the closure of a lock must run once") }
        return try result.get()
    }

    /// The number of bytes that libvips currently holds for pixels, across all threads.
    public var pixelBytesInUse: Int { cvips_memory_in_use() }

    /// The number of files that libvips has open for pixels: 0, since it keeps them in memory.
    public var pixelFilesInUse: Int { Int(cvips_files_in_use()) }

    fileprivate static func warn(_ domain: String, _ message: String) {
        let handler = warningHandler.withLock { $0 }
        handler?(domain, message)
    }
}

private func passWarning(
    level: CInt, domain: UnsafePointer<CChar>?, message: UnsafePointer<CChar>?
) {
    guard let domain, let message else { return }
    VipsLibrary.warn(String(cString: domain), String(cString: message))
}

/// A libvips loader, which reads one format from memory.
///
/// libvips blocks each loader until a `VipsLibrary` is created that names it.
public struct VipsLoader: Hashable, Sendable {
    /// The name in libvips, such as `pngload_buffer`.
    public let name: String
    /// The module that contains it, unless it's built into libvips; loaded when the loader is
    /// permitted.
    let module: String?
    /// Prefixes of libvips' error lines that show that this loader, or code it calls, rejected the
    /// bytes.
    public let voices: [String]

    /// Creates a loader, which libvips may lack. `voices` are prefixes in addition to the name and
    /// a colon.
    public init(_ name: String, module: String? = nil, voices: [String] = []) {
        (self.name, self.module) = (name, module)
        self.voices = ["\(name):"] + voices
    }

    /// JPEG; options: `shrink` 1, 2, 4 or 8.
    public static let jpeg = VipsLoader("jpegload_buffer", voices: ["VipsJpeg:"])
    /// PNG.
    public static let png = VipsLoader("pngload_buffer", voices: ["vipspng:"])
    /// WebP; options: `scale` up to 1, `page`, `n`.
    public static let webp = VipsLoader("webpload_buffer", voices: ["webp:", "webp2vips:"])
    /// GIF; options: `page`, `n`.
    public static let gif = VipsLoader("gifload_buffer", voices: ["gifload:"])
    /// TIFF; options: `page`, `n`. libtiff reports the name of the failed function, and not even
    /// that for a file without directories.
    public static let tiff = VipsLoader(
        "tiffload_buffer",
        voices: ["tiff2vips:", "TIFF", "_TIFF", "source input:", "vips__tiff_openin_source:"])
    /// HEIC, AVIF and other HEIF. The orientation is already applied.
    public static let heif = VipsLoader(
        "heifload_buffer", module: "heif", voices: ["heif:", "heifload:"])
    /// PDF; options: `page`, `n`, `scale`. poppler's messages arrive through GLib.
    public static let pdf = VipsLoader(
        "pdfload_buffer", module: "poppler", voices: ["glib:", "pdfload_base:", "pdfload:"])
    /// JPEG XL. The orientation is already applied.
    public static let jxl = VipsLoader("jxlload_buffer", module: "jxl", voices: ["jxlload:"])
}

extension VipsLoader {
    /// The loaders permitted in this process; libvips has one list for all.
    private static let permitted = Mutex<Set<VipsLoader>>([])

    /// Permits loaders permanently.
    static func permit(_ loaders: [VipsLoader]) throws(VipsError) {
        for loader in loaders {
            guard cvips_permit_loader(loader.name, loader.module) == 0 else {
                throw .lacking("loader", loader.name, module: loader.module)
            }
            permitted.withLock { _ = $0.insert(loader) }
        }
    }

    /// Whether the line was written by one of the permitted loaders.
    static func speaks(_ line: Substring) -> Bool {
        permitted.withLock { loaders in
            loaders.contains { $0.voices.contains { line.hasPrefix($0) } }
        }
    }
}

/// A libvips saver that libvips itself doesn't trust.
///
/// It's blocked until a `VipsLibrary` is created that names it. Other savers aren't blocked.
public struct VipsSaver: Hashable, Sendable {
    /// The name in libvips.
    public let name: String
    /// The module that contains it, unless it's built into libvips; loaded when the saver is
    /// permitted.
    let module: String?

    /// JPEG XL.
    public static let jxl = VipsSaver(name: "jxlsave_target", module: "jxl")

    /// Permits savers permanently.
    static func permit(_ savers: [VipsSaver]) throws(VipsError) {
        for saver in savers {
            guard cvips_permit_saver(saver.name, saver.module) == 0 else {
                throw .lacking("saver", saver.name, module: saver.module)
            }
        }
    }
}

/// Why a libvips operation failed.
public struct VipsError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kind of failure, for decisions; libvips itself only provides texts.
    public enum Kind: Sendable {
        /// The bytes are damaged, truncated or not in the format they claim to be.
        case corrupt
        /// The bytes may be valid, but this libvips build doesn't support what they need.
        case unsupported
        /// The image exceeds the size limit of the library below libvips, or needs more memory than
        /// the process may have.
        case tooLarge
        /// `VipsImage.watch` canceled the computation.
        case killed
        /// The sink of `VipsImage.save` refused bytes.
        case refused
        /// Anything else: a bug in this project.
        case `internal`
    }

    /// The kind of failure, for decisions.
    public let kind: Kind
    /// The name of the failed operation.
    public let operation: String
    /// libvips' messages, one per line; for logs, not for clients.
    public let text: String

    /// Creates an error for a failure that libvips itself didn't report.
    public init(kind: Kind, operation: String, text: String) {
        self.kind = kind
        self.operation = operation
        self.text = text
    }

    /// A description for logs, such as `jpegload: corrupt: VipsJpeg: Premature end of input file`.
    public var description: String { "\(operation): \(kind): \(text)" }
}

extension VipsError {
    /// Messages of libvips and its decoders, tried in order. This is the only code that interprets
    /// them.
    private static let table: [(part: String, kind: Kind)] = [
        ("killed for image", .killed),
        ("security limit exceeded", .tooLarge),
        ("size out of range", .tooLarge),
        // libtiff adds that it can't allocate as many bytes.
        ("integer overflow", .corrupt),
        ("_TIFFMultiplySSize", .corrupt),
        // Lack of memory, in the words of each library. The system's own text, "Cannot allocate
        // memory", is in a Unix error.
        ("out of memory", .tooLarge),
        ("insufficient memory", .tooLarge),
        ("not enough memory", .tooLarge),
        ("too much memory", .tooLarge),
        ("to allocate", .tooLarge),
        ("cannot allocate", .tooLarge),
        ("could not allocate", .tooLarge),
        ("couldn't allocate", .tooLarge),
        ("malloc", .tooLarge),
        ("calloc", .tooLarge),
        ("memory allocation", .tooLarge),
        ("no space for", .tooLarge),
        ("no space to", .tooLarge),
        ("memory usage limit", .tooLarge),
        ("tile, memory error", .tooLarge),
        ("picture memory error", .tooLarge),
        ("unix error", .internal),
        ("operation is blocked", .unsupported),
        // A module wasn't loaded.
        ("vipsoperation: class", .unsupported),
        ("unsupported", .unsupported),
        ("not supported", .unsupported),
        ("samples out of range", .unsupported),
        // TIFF with 12 bits per sample or 1-bit color.
        ("not a whole number of bytes", .unsupported),
        // For CMYK or spot colors, libvips 8.14 counts the channels of a JPEG XL differently from
        // libjxl and doesn't drop any.
        ("error JxlDecoderImageOutBufferSize", .unsupported),
        ("Not implemented", .unsupported),
    ]

    /// Returns the error for a loader or saver that this libvips has neither built in nor in a
    /// module.
    static func lacking(_ what: String, _ name: String, module: String?) -> VipsError {
        let place = module.map { " and no loadable module vips-\($0)" } ?? ""
        return VipsError(
            kind: .internal, operation: name, text: "this libvips has no \(what) \(name)\(place)")
    }

    /// Creates the error of the call that just failed. Clears libvips' process-wide error buffer.
    /// No other libvips call may run in between.
    static func fromLibrary(_ operation: String, otherwise kind: Kind) -> VipsError {
        let text = consumeText()
        return VipsError(
            kind: Self.kind(of: text, otherwise: kind), operation: operation, text: text)
    }

    /// Classifies an error text. Bytes count as corrupt only if their decoder reported it: other
    /// failures while computing pixels, such as a file that can't be written, are internal errors.
    static func kind(of text: String, otherwise kind: Kind) -> Kind {
        if let found = table.first(where: { text.holds($0.part) }) { return found.kind }
        guard kind == .corrupt, !text.isEmpty else { return kind }
        let isOfDecoder = text.split(separator: "\n").contains { VipsLoader.speaks($0) }
        return isOfDecoder ? .corrupt : .internal
    }

    private static func consumeText() -> String {
        guard let buffer = cvips_take_error() else { return "" }
        defer { cvips_free(buffer) }
        var text = String(cString: buffer)
        while text.last == "\n" { text.removeLast() }
        return text
    }
}

extension String {
    /// Whether the text contains `part`, ignoring case.
    func holds(_ part: String) -> Bool {
        let text = Array(lowercased().utf8)
        let part = Array(part.lowercased().utf8)
        guard text.count >= part.count else { return false }
        return (0...(text.count - part.count)).contains { text[$0...].starts(with: part) }
    }
}
