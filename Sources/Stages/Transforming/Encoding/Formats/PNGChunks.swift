/// What the chunks of a PNG say that was just written (PNG 1.2, chapter 3).
enum PNGChunks {
    /// Whether its palette has a colour that is not opaque: the encoder leaves alpha out otherwise.
    static func haveTransparency(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let header = 8
        var offset = header
        while offset + 8 <= bytes.count {
            let type = bytes[(offset + 4)..<(offset + 8)]
            if type.elementsEqual("tRNS".utf8) { return true }
            if type.elementsEqual("IDAT".utf8) { return false }
            let length = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self).bigEndian
            offset += Int(length) + 12
        }
        return false
    }
}
