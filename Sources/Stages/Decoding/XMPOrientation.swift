/// Finds the orientation that an XMP packet states (`tiff:Orientation`, XMP specification part 2).
///
/// The packet may hold anything: a bounded part of it is searched for this one property, as an
/// attribute or an element, and for no structure around it.
struct XMPOrientation {
    static let bytesMax = 64 << 10
    private static let prefixMax = 32
    private static let namespace = Array("http://ns.adobe.com/tiff/1.0/".utf8)
    private static let property = Array(":Orientation".utf8)

    private let bytes: UnsafeRawBufferPointer

    /// 1 to 8, or nil where the packet says nothing that can be read.
    static func read(_ packet: UnsafeRawBufferPointer) -> Int? {
        Self(packet).places(atMost: 1).first.map { Int(packet[$0]) - Int(UInt8(ascii: "0")) }
    }

    /// The packet as it says that pixels are upright; `nil` where it is too long to be searched.
    static func upright(_ packet: UnsafeRawBufferPointer) -> [UInt8]? {
        guard packet.count <= bytesMax else { return nil }
        var upright = Array(packet)
        for place in Self(packet).places(atMost: .max) { upright[place] = UInt8(ascii: "1") }
        return upright
    }

    private init(_ packet: UnsafeRawBufferPointer) {
        bytes = UnsafeRawBufferPointer(rebasing: packet.prefix(Self.bytesMax))
    }

    /// Of the digits of its values.
    private func places(atMost most: Int) -> [Int] {
        guard let prefix = prefix() else { return [] }
        let name = prefix + Self.property
        var (places, start): ([Int], Int) = ([], 0)
        while places.count < most, let found = place(of: name, from: start) {
            start = found + name.count
            if isBoundary(found - 1), let place = value(start) { places.append(place) }
        }
        return places
    }

    /// What stands for the namespace: `tiff` of `xmlns:tiff="http://ns.adobe.com/tiff/1.0/"`.
    private func prefix() -> [UInt8]? {
        guard let found = place(of: Self.namespace, from: 0) else { return nil }
        var end = found - 1
        guard end > 0, isQuote(end) else { return nil }
        repeat { end -= 1 } while end > 0 && (isSpace(end) || bytes[end] == UInt8(ascii: "="))
        var start = end
        while start > 0, end - start < Self.prefixMax, bytes[start] != UInt8(ascii: ":") {
            start -= 1
        }
        guard bytes[start] == UInt8(ascii: ":"), start < end else { return nil }
        return Array(bytes[(start + 1)...end])
    }

    /// Where the digit of `="3"` is, or of `>3<`, with spaces.
    private func value(_ start: Int) -> Int? {
        let sign = afterSpaces(start)
        guard sign < bytes.count else { return nil }
        switch bytes[sign] {
        case UInt8(ascii: "="):
            let quote = afterSpaces(sign + 1)
            guard quote < bytes.count, isQuote(quote) else { return nil }
            return digit(quote + 1, before: bytes[quote])
        case UInt8(ascii: ">"): return digit(afterSpaces(sign + 1), before: UInt8(ascii: "<"))
        default: return nil
        }
    }

    private func digit(_ place: Int, before end: UInt8) -> Int? {
        guard place < bytes.count else { return nil }
        let value = Int(bytes[place]) - Int(UInt8(ascii: "0"))
        let next = afterSpaces(place + 1)
        guard (1...8).contains(value), next < bytes.count, bytes[next] == end else { return nil }
        return place
    }

    private func place(of part: [UInt8], from start: Int) -> Int? {
        guard bytes.count >= part.count, start <= bytes.count - part.count else { return nil }
        return (start...(bytes.count - part.count)).first { place in
            bytes[place] == part[0] && bytes[place...].starts(with: part)
        }
    }

    private func afterSpaces(_ start: Int) -> Int {
        var place = start
        while place < bytes.count, isSpace(place) { place += 1 }
        return place
    }

    private func isBoundary(_ place: Int) -> Bool {
        place >= 0 && (isSpace(place) || bytes[place] == UInt8(ascii: "<"))
    }

    private func isSpace(_ place: Int) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(bytes[place]) }

    private func isQuote(_ place: Int) -> Bool { [0x22, 0x27].contains(bytes[place]) }
}
