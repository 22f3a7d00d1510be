import StageKit

extension [UInt8] {
    /// This JPEG, its JFIF header replaced by Adobe's: with transform 0, three components are RGB.
    func withAdobe(transform: UInt8) -> [UInt8] {
        var bytes = self
        bytes.removeSubrange(2..<20)
        return bytes.withSegment(
            0xEE, Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, transform])
    }

    /// This grey JPEG with four components, each of which has its scan.
    var asFourComponents: [UInt8] {
        guard let frame = place(of: 0xC0), let scan = place(of: 0xDA) else { return [] }
        let data = Array(self[(scan + 10)..<(count - 2)])
        var bytes = Array(self[..<2])
        bytes += self[20..<(frame + 3)]
        bytes.append(20)
        bytes += self[(frame + 4)..<(frame + 9)]
        bytes.append(4)
        for component in 1...4 as ClosedRange<UInt8> { bytes += [component, 0x11, 0] }
        bytes += self[(frame + 13)..<scan]
        for component in 1...4 as ClosedRange<UInt8> {
            bytes += [0xFF, 0xDA, 0, 8, 1, component, 0, 0, 63, 0]
            bytes += data
        }
        return bytes + [0xFF, 0xD9]
    }

    /// Where the segment with that marker begins.
    func place(of marker: UInt8) -> Int? {
        var place = 2
        while place + 4 <= count, self[place] == 0xFF {
            if self[place + 1] == marker { return place }
            place += 2 + Int(self[place + 2]) << 8 + Int(self[place + 3])
        }
        return nil
    }
}
