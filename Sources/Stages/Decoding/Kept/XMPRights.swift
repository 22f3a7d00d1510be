/// Who made an image and whose it is, by its XMP packet (`dc:creator` and `dc:rights`, XMP
/// specification part 1, 8.3).
///
/// The packet may hold anything: it is searched for texts in the items of these two properties,
/// with the prefixes that all programs write, and for no structure around them.
enum XMPRights {
    private static let textBytesMax = 4096
    private static let itemsMax = 16

    /// A packet of its own; `nil` where the source's has neither.
    static func read(_ packet: UnsafeRawBufferPointer) -> [UInt8]? {
        guard packet.count <= XMPOrientation.bytesMax else { return nil }
        let bytes = Array(packet)
        let creators = items(of: "dc:creator", bytes)
        let rights = items(of: "dc:rights", bytes).prefix(1)
        guard !creators.isEmpty || !rights.isEmpty else { return nil }
        return Array(head.utf8)
            + list("dc:creator", "rdf:Seq", "<rdf:li>", creators)
            + list("dc:rights", "rdf:Alt", "<rdf:li xml:lang=\"x-default\">", Array(rights))
            + Array(foot.utf8)
    }

    private static let head =
        "<?xpacket begin=\"\u{FEFF}\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>"
        + "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\">"
        + "<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">"
        + "<rdf:Description rdf:about=\"\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\">"
    private static let foot =
        "</rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end=\"r\"?>"

    private static func list(
        _ name: String, _ kind: String, _ item: String, _ texts: [[UInt8]]
    ) -> [UInt8] {
        guard !texts.isEmpty else { return [] }
        let items = texts.flatMap { Array(item.utf8) + $0 + Array("</rdf:li>".utf8) }
        return Array("<\(name)><\(kind)>".utf8) + items + Array("</\(kind)></\(name)>".utf8)
    }

    /// The texts between `<rdf:li…>` and the next `<`, as they are written, within the property.
    private static func items(of name: String, _ bytes: [UInt8]) -> [[UInt8]] {
        guard let start = place(of: "<\(name)", bytes, from: 0),
            let end = place(of: "</\(name)>", bytes, from: start)
        else { return [] }
        var (items, place): ([[UInt8]], Int) = ([], start)
        while items.count < itemsMax,
            let item = Self.place(of: "<rdf:li", bytes, from: place), item < end,
            let open = bytes[item..<end].firstIndex(of: UInt8(ascii: ">")),
            let close = bytes[open...].firstIndex(of: UInt8(ascii: "<"))
        {
            let text = Array(bytes[(open + 1)..<close])
            if isText(text) { items.append(text) }
            place = close
        }
        return items
    }

    private static func isText(_ bytes: [UInt8]) -> Bool {
        (1...textBytesMax).contains(bytes.count) && bytes.allSatisfy { $0 >= 0x20 }
            && String(validating: bytes, as: UTF8.self) != nil
    }

    private static func place(of text: String, _ bytes: [UInt8], from start: Int) -> Int? {
        let part = Array(text.utf8)
        guard start <= bytes.count - part.count else { return nil }
        return (start...(bytes.count - part.count)).first { place in
            bytes[place] == part[0] && bytes[place...].starts(with: part)
        }
    }
}
