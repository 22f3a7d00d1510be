/// The size of an SVG as its first element says it, without drawing it (SVG 2, 7.2; CSS Images 3,
/// 4.2).
///
/// The bytes are a stranger's. What they say is a hint for those who show the drawing: it is
/// clamped, and never refused.
package enum DrawingSize {
    /// Bytes that are looked at for the first element.
    private static let bytesMax = 64 << 10
    /// What browsers take where nothing is said.
    private static let usual = PixelSize(width: 300, height: 150)

    /// The size in pixels of CSS, within these limits and 1 pixel at least.
    package static func of(
        _ document: some Collection<UInt8>, sideMax: Int, pixelsMax: Int
    ) -> PixelSize {
        var size = said(Array(document.prefix(bytesMax))) ?? usual
        while max(size.width, size.height) > sideMax || size.width > pixelsMax / size.height {
            size = PixelSize(width: max(1, size.width / 2), height: max(1, size.height / 2))
            if size == PixelSize(width: 1, height: 1) { break }
        }
        return size
    }

    private static func said(_ document: [UInt8]) -> PixelSize? {
        guard let bytes = MarkupStart.rootTag(of: document) else { return nil }
        let tag = String(decoding: bytes, as: UTF8.self)
        let (width, height) = (length("width", tag), length("height", tag))
        let box =
            value("viewBox", tag)?.split { $0 == " " || $0 == "," }.compactMap { Double($0) } ?? []
        guard box.count == 4, box[2] > 0, box[3] > 0 else {
            return pixels(width ?? Double(usual.width), height ?? Double(usual.height))
        }
        switch (width, height) {
        case (let width?, let height?): return pixels(width, height)
        case (let width?, nil): return pixels(width, width * box[3] / box[2])
        case (nil, let height?): return pixels(height * box[2] / box[3], height)
        case (nil, nil): return pixels(box[2], box[3])
        }
    }

    private static func pixels(_ width: Double, _ height: Double) -> PixelSize {
        func side(_ value: Double) -> Int { Int(min(max(1, value.rounded()), 16_777_216)) }
        return PixelSize(width: side(width), height: side(height))
    }

    /// A positive length in pixels; `nil` for other units, and for parts of what shows it.
    private static func length(_ name: String, _ tag: String) -> Double? {
        guard var text = value(name, tag)?[...] else { return nil }
        if text.hasSuffix("px") { text = text.dropLast(2) }
        guard let number = Double(text), number > 0, number.isFinite else { return nil }
        return number
    }

    /// The value of an attribute.
    private static func value(_ name: String, _ tag: String) -> String? {
        var rest = tag[...]
        while let equals = rest.firstIndex(of: "=") {
            let before = rest[..<equals].split(whereSeparator: \.isWhitespace).last ?? ""
            let behind = rest[rest.index(after: equals)...].drop(while: \.isWhitespace)
            guard let quote = behind.first, quote == "\"" || quote == "'" else { return nil }
            let body = behind.dropFirst()
            guard let end = body.firstIndex(of: quote) else { return nil }
            if before == name {
                return body[..<end].split(whereSeparator: \.isWhitespace).joined(separator: " ")
            }
            rest = body[body.index(after: end)...]
        }
        return nil
    }
}
