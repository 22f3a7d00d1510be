extension ImageFormat {
    /// Bytes from the start of a file that `sniff` looks at, at most.
    public static let sniffedBytes = 64

    /// Bytes from the end of a file that `sniff` looks at, at most.
    static let sniffedTailBytes = 100

    /// The format by the first bytes (SEMANTICS §11.1), never by a name; `tail` is the end of the
    /// file (100 bytes are enough), by which SVG is known.
    ///
    /// Camera RAW that is a TIFF file is told apart by `init(file:)` alone.
    public static func sniff(_ head: some Collection<UInt8>, tail: some Collection<UInt8>) -> Self {
        let bytes = Array(head.prefix(sniffedBytes))
        let row = FormatTraits.rows.first { row in
            row.signatures.contains { $0.matches(bytes, tail: tail) }
        }
        return row?.format ?? .undefined
    }

    /// The format of a whole file: by its signature, and where formats share one by what stands
    /// behind it.
    package init(file: Span<UInt8>) {
        let reader = HeaderBytes(file)
        let format = Self.sniff(
            reader.start(Self.sniffedBytes), tail: reader.end(Self.sniffedTailBytes))
        self = format.traits.guest?(reader) ?? format
    }

    /// Pages of a file of this format, counted up to `most`, where no decoder should count them;
    /// else nil.
    package func pages(of file: Span<UInt8>, upTo most: Int) -> Int? {
        traits.pageCount?(HeaderBytes(file), most)
    }
}
