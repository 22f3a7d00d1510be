/// A file put together of parts of another one and of new bytes, before it is written.
///
/// Who wrote the source is not trusted: parts lie within it, and there are at most `partsMax`.
struct StrippedFile {
    private enum Part {
        case source(Range<Int>)
        case bytes([UInt8])
    }

    let source: UnsafeRawBufferPointer
    private var parts: [Part] = []
    /// Bytes of all parts.
    private(set) var length = 0

    /// More parts no file needs; one that comes to more is not put together.
    private static let partsMax = 1 << 16

    init(of source: UnsafeRawBufferPointer) { self.source = source }

    /// Whether nothing was left out for want of parts.
    var isWhole: Bool { parts.count <= Self.partsMax }

    /// Takes these bytes of the source, which has them.
    mutating func keep(_ range: Range<Int>) {
        precondition(range.upperBound <= source.count, "kept bytes lie within the source")
        guard !range.isEmpty else { return }
        length += range.count
        if case .source(let last)? = parts.last, last.upperBound == range.lowerBound {
            parts[parts.count - 1] = .source(last.lowerBound..<range.upperBound)
        } else if isWhole {
            parts.append(.source(range))
        }
    }

    /// Takes these bytes.
    mutating func append(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        length += bytes.count
        if isWhole { parts.append(.bytes(bytes)) }
    }

    /// Takes all of another one of the same source.
    mutating func append(_ other: StrippedFile) {
        length += other.length
        if isWhole { parts += other.parts }
    }

    /// Writes it to the beginning of `memory`, which has room for `length` bytes.
    func write(to memory: UnsafeMutableRawBufferPointer) {
        var place = 0
        for part in parts {
            let target = UnsafeMutableRawBufferPointer(rebasing: memory[place...])
            switch part {
            case .source(let range):
                target.copyMemory(from: UnsafeRawBufferPointer(rebasing: source[range]))
                place += range.count
            case .bytes(let bytes):
                target.copyBytes(from: bytes)
                place += bytes.count
            }
        }
    }
}

extension UnsafeRawBufferPointer {
    /// A number of so many bytes from there on, the highest first; the caller has looked that they
    /// are there.
    func bigEndian(_ place: Int, _ count: Int) -> Int {
        self[place..<(place + count)].reduce(0) { $0 << 8 | Int($1) }
    }

    /// The same, the lowest byte first.
    func littleEndian(_ place: Int, _ count: Int) -> Int {
        self[place..<(place + count)].reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    /// Whether these characters of ASCII stand there.
    func has(_ text: StaticString, at place: Int) -> Bool {
        guard place >= 0, place <= count - text.utf8CodeUnitCount else { return false }
        let text = UnsafeRawBufferPointer(
            start: text.utf8Start, count: text.utf8CodeUnitCount)
        return self[place..<(place + text.count)].elementsEqual(text)
    }
}
