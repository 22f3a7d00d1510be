internal import CVipsShims

extension VipsError {
    /// Texts of libvips and of the decoders below it, in the order in which they are tried: the
    /// only place where they are interpreted.
    private static let table: [(part: String, kind: Kind)] = [
        ("killed for image", .killed),
        ("operation is blocked", .unsupported),
        ("unsupported", .unsupported),
        ("not supported", .unsupported),
        ("Not implemented", .unsupported),
        ("out of memory", .internal),
        ("insufficient memory", .internal),
        ("unable to malloc", .internal),
    ]

    /// Takes the text of the call that just failed out of libvips' error buffer, which is one for
    /// the whole process: nothing may run between the call and this.
    static func take(_ operation: StaticString, otherwise kind: Kind) -> VipsError {
        let text = takeText()
        let found = table.first { text.holds($0.part) }
        return VipsError(kind: found?.kind ?? kind, operation: "\(operation)", text: text)
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
