/// ICC profiles with known colors by construction (ICC.1:2001-04).
public enum TestProfile {
    /// A display profile with rotated channels: the first channel drives sRGB's second, the second
    /// the third, the third the first; each with a gamma of 2.2.
    public static let rotatedRGB: [UInt8] = profile(
        class: "mntr", space: "RGB ", connection: "XYZ ",
        tags: [
            ("rXYZ", xyz(greenXYZ)), ("gXYZ", xyz(blueXYZ)), ("bXYZ", xyz(redXYZ)),
            ("wtpt", xyz(white)), ("rTRC", power), ("gTRC", power), ("bTRC", power),
        ])

    /// A grayscale display profile with a gamma of 2.2.
    public static let gray: [UInt8] = profile(
        class: "mntr", space: "GRAY", connection: "XYZ ",
        tags: [("wtpt", xyz(white)), ("kTRC", power)])

    /// A printer profile with four inks: the first alone is black, the second red; the third, the
    /// fourth, and no ink at all leave the paper white.
    public static let oddInks: [UInt8] = profile(
        class: "prtr", space: "CMYK", connection: "Lab ",
        tags: [("A2B0", inks), ("A2B1", inks), ("wtpt", xyz(white))])

    // sRGB's primaries and white, adapted to D50.
    private static let redXYZ = [0.43607, 0.22249, 0.01392]
    private static let greenXYZ = [0.38515, 0.71687, 0.09708]
    private static let blueXYZ = [0.14307, 0.06061, 0.71410]
    private static let white = [0.96420, 1, 0.82491]

    private static let power: [UInt8] =
        Array("curv".utf8) + number(0) + number(1) + [2, 51, 0, 0]

    /// A table with two points per ink: the corners of all mixtures of four inks. In 8-bit Lab,
    /// neutral is 128.
    private static let inks: [UInt8] = {
        let straight = (0...255).map { UInt8($0) }
        let unit = (0..<9).flatMap { fixed($0 % 4 == 0 ? 1 : 0) }
        let corners = (0..<16).flatMap { corner -> [UInt8] in
            let (first, second) = (corner & 8 != 0, corner & 4 != 0)
            return first ? [0, 128, 128] : second ? [138, 208, 195] : [255, 128, 128]
        }
        return Array("mft1".utf8) + number(0) + [4, 3, 2, 0] + unit
            + [straight, straight, straight, straight].joined() + corners
            + [straight, straight, straight].joined()
    }()

    private static func profile(
        class kind: String, space: String, connection: String,
        tags: [(name: String, data: [UInt8])]
    ) -> [UInt8] {
        var directory = number(tags.count)
        var data: [UInt8] = []
        for tag in tags {
            let place = 128 + 4 + 12 * tags.count + data.count
            directory += Array(tag.name.utf8) + number(place) + number(tag.data.count)
            data += tag.data + [UInt8](repeating: 0, count: (4 - tag.data.count % 4) % 4)
        }
        let size = 128 + directory.count + data.count
        var head = number(size) + number(0) + [2, 0x10, 0, 0]
        head += Array("\(kind)\(space)\(connection)".utf8)
        head += [0x07, 0xD0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0] + Array("acsp".utf8)
        head += [UInt8](repeating: 0, count: 28) + white.flatMap { fixed($0) }
        head += [UInt8](repeating: 0, count: 128 - head.count)
        return head + directory + data
    }

    private static func xyz(_ values: [Double]) -> [UInt8] {
        Array("XYZ ".utf8) + number(0) + values.flatMap { fixed($0) }
    }

    private static func fixed(_ value: Double) -> [UInt8] {
        number(Int((value * 65_536).rounded()))
    }

    private static func number(_ value: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }
}
