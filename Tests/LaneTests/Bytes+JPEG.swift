import StageKit

extension [UInt8] {
    /// This JPEG, its JFIF header replaced by Adobe's: with transform 0, three components are RGB.
    func withAdobe(transform: UInt8) -> [UInt8] {
        var bytes = self
        bytes.removeSubrange(2..<20)
        return bytes.withSegment(
            0xEE, Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, transform])
    }

    /// Combines four gray JPEGs of one size and quality into the components of one, each with its
    /// own scan.
    static func fourComponents(_ parts: [[UInt8]]) -> [UInt8] {
        guard let first = parts.first, let frame = first.place(of: 0xC0),
            let scan = first.place(of: 0xDA)
        else { return [] }
        var bytes = Array(first[..<2])
        bytes += first[20..<(frame + 3)]
        bytes.append(20)
        bytes += first[(frame + 4)..<(frame + 9)]
        bytes.append(4)
        for component in 1...4 as ClosedRange<UInt8> { bytes += [component, 0x11, 0] }
        bytes += first[(frame + 13)..<scan]
        for (part, component) in zip(parts, 1...4 as ClosedRange<UInt8>) {
            guard let scan = part.place(of: 0xDA) else { return [] }
            bytes += [0xFF, 0xDA, 0, 8, 1, component, 0, 0, 63, 0]
            bytes += part[(scan + 10)..<(part.count - 2)]
        }
        return bytes + [0xFF, 0xD9]
    }

    /// The offset of the segment with that marker.
    func place(of marker: UInt8) -> Int? {
        var place = 2
        while place + 4 <= count, self[place] == 0xFF {
            if self[place + 1] == marker { return place }
            place += 2 + Int(self[place + 2]) << 8 + Int(self[place + 3])
        }
        return nil
    }
}
