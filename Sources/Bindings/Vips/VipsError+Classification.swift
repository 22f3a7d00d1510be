internal import CVipsShims

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
