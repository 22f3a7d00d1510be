extension ImageFormat {
    /// Bytes from the start of a file that `sniff` looks at, at most.
    public static let sniffedBytes = 4_096

    /// As many of them have signatures. The others are for what stands in front of the first
    /// element of a document.
    static let signatureBytes = 64

    /// Bytes from the end of a file that `sniff` looks at, at most.
    static let sniffedTailBytes = 100

    /// The format by the first bytes (SEMANTICS §11.1), never by a name; `tail` is the end of the
    /// file (100 bytes are enough), by which SVG is known where its start does not say so.
    ///
    /// Camera RAW that is a TIFF file is told apart by `init(file:)` alone.
    public static func sniff(_ head: some Collection<UInt8>, tail: some Collection<UInt8>) -> Self {
        let format = bySignature(Array(head.prefix(signatureBytes)), tail: tail)
        return format == .undefined ? byRoot(Array(head.prefix(sniffedBytes))) : format
    }

    /// The format of a whole file: by its signature, and where formats share one by what stands
    /// behind it.
    package init(file: Span<UInt8>) {
        let reader = HeaderBytes(file)
        var format = Self.bySignature(
            reader.start(Self.signatureBytes), tail: reader.end(Self.sniffedTailBytes))
        if format == .undefined { format = Self.byRoot(reader.start(Self.sniffedBytes)) }
        self = format.traits.guest?(reader) ?? format
    }

    private static func bySignature(_ head: [UInt8], tail: some Collection<UInt8>) -> Self {
        let row = FormatTraits.rows.first { row in
            row.signatures.contains { $0.matches(head, tail: tail) }
        }
        return row?.format ?? .undefined
    }

    /// What a document with this start is.
    private static func byRoot(_ head: [UInt8]) -> Self {
        guard let root = MarkupStart.root(of: head) else { return .undefined }
        return FormatTraits.rows.first { $0.root == root }?.format ?? .undefined
    }

    /// Pages of a file of this format, counted up to `most`, where no decoder should count them;
    /// else nil.
    package func pages(of file: Span<UInt8>, upTo most: Int) -> Int? {
        traits.pageCount?(HeaderBytes(file), most)
    }
}
