/// Deterministic decisions read from bytes. All values past the end are 0.
struct ByteReader {
    private let bytes: [UInt8]
    private var place = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { place >= bytes.count }

    mutating func byte() -> UInt8 {
        guard !isAtEnd else { return 0 }
        defer { place += 1 }
        return bytes[place]
    }

    /// A number below `count`, from one byte.
    mutating func choice(_ count: Int) -> Int { Int(byte()) % count }

    mutating func bool() -> Bool { byte() & 1 == 1 }

    mutating func pick<Element>(_ elements: [Element]) -> Element? {
        elements.isEmpty ? nil : elements[choice(elements.count)]
    }

    /// A number of any size; small and boundary values take one byte.
    mutating func number<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) -> Number {
        let first = byte()
        switch first {
        case 0xFF: return whole()
        case 0xFE: return .max
        case 0xFD: return .min
        case 0xFC: return .max / 2
        default: return Number(truncatingIfNeeded: first)
        }
    }

    mutating func double() -> Double {
        let first = byte()
        return first == 0xFF ? Double(bitPattern: whole()) : Double(Int(first) - 127) * .pi / 16
    }

    /// Up to 255 bytes, preceded by their count.
    mutating func list() -> [UInt8] {
        let count = min(Int(byte()), bytes.count - place)
        defer { place += count }
        return Array(bytes[place..<(place + count)])
    }

    /// Text, with invalid UTF-8 replaced.
    mutating func text() -> String { String(decoding: list(), as: UTF8.self) }

    mutating func rest() -> [UInt8] {
        defer { place = bytes.count }
        return Array(bytes[min(place, bytes.count)...])
    }

    private mutating func whole<Number: FixedWidthInteger>() -> Number {
        (0..<MemoryLayout<Number>.size).reduce(0) { number, _ in
            number << 8 | Number(truncatingIfNeeded: byte())
        }
    }
}
