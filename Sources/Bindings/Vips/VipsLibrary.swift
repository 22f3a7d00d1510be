internal import CVips
internal import CVipsShims
internal import Synchronization

// CVips is imported for its link line, which acts only where Swift imports the module.

/// libvips, started: whoever holds a value may make images.
///
/// The operation cache is off, all loaders but those that are named are blocked, and so are savers
/// that libvips does not trust. Nothing is written to stderr: what libvips warns of goes to
/// `onWarning`. Pixels are kept in memory, however many there are: whoever opens an image limits
/// its size by the header.
public struct VipsLibrary: Sendable {
    /// Takes one message of libvips or GLib; called on any thread, also on those of libvips.
    public typealias WarningHandler = @Sendable (_ domain: String, _ message: String) -> Void

    private static let warningHandler = Mutex<WarningHandler?>(nil)

    private static let errorBuffer = Mutex<Void>(())

    /// The result of the one start of this process: libvips cannot be started twice.
    private static let started: Result<Void, VipsError> = {
        guard cvips_start(passWarning) == 0 else {
            return .failure(VipsError.take("vips_init", otherwise: .internal))
        }
        return .success(())
    }()

    /// Starts libvips the first time it is called in a process; later calls only set what they
    /// are given.
    ///
    /// - Parameters:
    ///   - concurrency: threads for each image computed, process-wide; 1 where the processes are
    ///     the parallelism. At least 1, at most 1024.
    ///   - loaders: what may be opened, besides what earlier calls named.
    ///   - savers: what may be written besides, of what libvips does not trust.
    ///   - onWarning: replaces the handler of an earlier call, unless it is nil.
    /// - Throws: `VipsError` of kind `internal` when libvips cannot start, or has no such loader or
    ///   saver.
    public init(
        concurrency: Int = 1, loaders: [VipsLoader] = [.jpeg, .png, .webp, .gif],
        savers: [VipsSaver] = [], onWarning: WarningHandler? = nil
    ) throws(VipsError) {
        precondition((1...1024).contains(concurrency), "concurrency is a number of threads")
        if let onWarning { Self.warningHandler.withLock { $0 = onWarning } }
        try Self.started.get()
        try VipsLoader.permit(loaders)
        try VipsSaver.permit(savers)
        cvips_set_concurrency(Int32(concurrency))
    }

    /// Runs `body` while no other thread of the process is in here: libvips has one error buffer
    /// for all, so work whose errors are to be told apart belongs inside. The buffer is emptied
    /// first: loaders leave texts in it that ended no call. Not reentrant.
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
        guard let result else { preconditionFailure("the closure of a lock runs once") }
        return try result.get()
    }

    /// Bytes that libvips holds for pixels at the moment, in all threads.
    public var pixelBytesInUse: Int { cvips_memory_in_use() }

    /// Files that libvips has open for pixels: none, since it keeps all of them in memory.
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

/// A saver of libvips that libvips itself does not trust.
///
/// It is blocked until a `VipsLibrary` is made that names it; other savers are free.
public struct VipsSaver: Hashable, Sendable {
    /// libvips' name of it.
    public let name: String
    /// The module that has it, unless it is inside libvips; loaded when this is permitted.
    let module: String?

    /// Of JPEG XL.
    public static let jxl = VipsSaver(name: "jxlsave_target", module: "jxl")

    /// Lets savers through, for good.
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
    /// What a caller decides by; libvips itself has only texts.
    public enum Kind: Sendable {
        /// The bytes are damaged, cut off or not of the format they claim to be.
        case corrupt
        /// The bytes may be sound, but libvips, or this build of it, does not do what they need.
        case unsupported
        /// The image is larger than the library below libvips makes any.
        case tooLarge
        /// `VipsImage.watch` asked for the end of the computation.
        case killed
        /// A sink of `VipsImage.save` refused bytes.
        case refused
        /// Anything else: a fault of ours, or no memory.
        case `internal`
    }

    /// What a caller decides by.
    public let kind: Kind
    /// The name of the operation that failed.
    public let operation: String
    /// What libvips said, one message a line; for the log, not for a client.
    public let text: String

    /// An error that is thrown where libvips itself was content.
    public init(kind: Kind, operation: String, text: String) {
        self.kind = kind
        self.operation = operation
        self.text = text
    }

    /// `jpegload: corrupt: VipsJpeg: Premature end of input file`
    public var description: String { "\(operation): \(kind): \(text)" }
}

extension VipsError {
    /// Texts of libvips and of the decoders below it, in the order in which they are tried: the
    /// only place where they are interpreted.
    private static let table: [(part: String, kind: Kind)] = [
        ("killed for image", .killed),
        ("security limit exceeded", .tooLarge),
        ("size out of range", .tooLarge),
        ("unix error", .internal),
        ("operation is blocked", .unsupported),
        // Of a module that was not loaded.
        ("vipsoperation: class", .unsupported),
        ("unsupported", .unsupported),
        ("not supported", .unsupported),
        ("samples out of range", .unsupported),
        // Of a TIFF: 12 bits a sample, or colors of one bit.
        ("not a whole number of bytes", .unsupported),
        // libvips 8.14 counts the channels of a JPEG XL otherwise than libjxl if it has CMYK or
        // spot colors, and cuts no channel off.
        ("error JxlDecoderImageOutBufferSize", .unsupported),
        ("Not implemented", .unsupported),
        ("out of memory", .internal),
        ("insufficient memory", .internal),
        ("unable to malloc", .internal),
    ]

    /// Something that is to be permitted, and that this libvips has neither inside nor in a module.
    static func lacking(_ what: String, _ name: String, module: String?) -> VipsError {
        let place = module.map { ", and no module vips-\($0) that can be loaded" } ?? ""
        return VipsError(
            kind: .internal, operation: name, text: "this libvips has no \(what) \(name)\(place)")
    }

    /// Takes the text of the call that just failed out of libvips' error buffer, which is one for
    /// the whole process: nothing may run between the call and this.
    static func take(_ operation: String, otherwise kind: Kind) -> VipsError {
        let text = takeText()
        return VipsError(
            kind: Self.kind(of: text, otherwise: kind), operation: operation, text: text)
    }

    /// Bytes are corrupt only where their decoder says so: what else fails on the way to pixels,
    /// such as a file that cannot be written, is a fault of ours.
    static func kind(of text: String, otherwise kind: Kind) -> Kind {
        if let found = table.first(where: { text.holds($0.part) }) { return found.kind }
        guard kind == .corrupt, !text.isEmpty else { return kind }
        let isOfDecoder = text.split(separator: "\n").contains { VipsLoader.speaks($0) }
        return isOfDecoder ? .corrupt : .internal
    }

    private static func takeText() -> String {
        guard let buffer = cvips_take_error() else { return "" }
        defer { cvips_free(buffer) }
        var text = String(cString: buffer)
        while text.last == "\n" { text.removeLast() }
        return text
    }
}

extension String {
    /// Whether `part` is somewhere in the text, upper and lower case being the same.
    func holds(_ part: String) -> Bool {
        let text = Array(lowercased().utf8)
        let part = Array(part.lowercased().utf8)
        guard text.count >= part.count else { return false }
        return (0...(text.count - part.count)).contains { text[$0...].starts(with: part) }
    }
}
