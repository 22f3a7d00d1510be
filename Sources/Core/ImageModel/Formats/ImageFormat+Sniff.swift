extension ImageFormat {
    /// Bytes from the start of a file that `sniff` looks at, at most.
    public static let sniffedBytes = 64

    /// The format by the first bytes (SEMANTICS §11.1), never by a name; `tail` is the end of the
    /// file (100 bytes are enough), by which SVG is known.
    public static func sniff(_ head: some Collection<UInt8>, tail: some Collection<UInt8>) -> Self {
        let bytes = Array(head.prefix(sniffedBytes))
        let row = FormatTraits.rows.first { row in
            row.signatures.contains { $0.matches(bytes, tail: tail) }
        }
        return row?.format ?? .undefined
    }
}
