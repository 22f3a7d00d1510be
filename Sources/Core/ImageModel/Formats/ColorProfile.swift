/// An ICC profile made of the numbers by which a file states its colors (ICC.1:2022).
struct ColorProfile {
    /// X, Y and Z of the white that profiles refer to (7.2.16).
    static let d50 = [0.9642, 1, 0.8249]

    private static let headerBytes = 128
    private static let version: [UInt8] = [4, 0x40, 0, 0]
    private static let relativeColorimetric = 1

    /// The whole profile.
    let bytes: [UInt8]

    /// - Returns: `nil` for numbers that are no colors.
    init?(_ colors: RGBColorSpace, for space: ProfileSpace) {
        guard let tags = Self.tags(colors, for: space) else { return nil }
        let tableBytes = 4 + 12 * tags.count
        var (table, data) = (Self.number(tags.count), [UInt8]())
        for tag in tags {
            let start = Self.headerBytes + tableBytes + data.count
            table += Array(tag.name.utf8) + Self.number(start) + Self.number(tag.data.count)
            data += tag.data + Self.zeros((4 - tag.data.count % 4) % 4)
        }
        let size = Self.headerBytes + tableBytes + data.count
        bytes = Self.header(space, size: size) + table + data
    }

    /// 7.2: of a display, with the connection space XYZ.
    private static func header(_ space: ProfileSpace, size: Int) -> [UInt8] {
        var header = number(size) + zeros(4) + version
        header += Array("mntr\(space.rawValue)XYZ ".utf8)
        // 1 January 2000: the same numbers make the same bytes.
        header += [0x07, 0xD0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0] + Array("acsp".utf8) + zeros(24)
        header += number(relativeColorimetric) + d50.flatMap(fixed)
        return header + zeros(headerBytes - header.count)
    }

    private static func tags(
        _ colors: RGBColorSpace, for space: ProfileSpace
    ) -> [(name: String, data: [UInt8])]? {
        guard let colorants = colors.colorants,
            let adaptation = colors.chromaticities.adaptation?.rows.flatMap(\.self),
            (colorants.flatMap(\.self) + adaptation).allSatisfy({ abs($0) < 32_767 })
        else { return nil }
        let curve = parametric(colors.curve)
        let common = [
            ("desc", text("Colors as stated by numbers")), ("cprt", text("No copyright")),
            ("wtpt", xyz(d50)), ("chad", array(adaptation)),
        ]
        guard space == .rgb else { return common + [("kTRC", curve)] }
        let colorTags = zip(["rXYZ", "gXYZ", "bXYZ"], colorants.map(xyz)).map { ($0, $1) }
        return common + colorTags + ["rTRC", "gTRC", "bTRC"].map { ($0, curve) }
    }

    /// 10.18, function 3.
    private static func parametric(_ curve: ToneCurve) -> [UInt8] {
        Array("para".utf8) + zeros(4) + [0, 3, 0, 0]
            + [curve.exponent, curve.a, curve.b, curve.c, curve.d].flatMap(fixed)
    }

    /// 10.31.
    private static func xyz(_ values: [Double]) -> [UInt8] {
        Array("XYZ ".utf8) + zeros(4) + values.flatMap(fixed)
    }

    /// 10.22.
    private static func array(_ values: [Double]) -> [UInt8] {
        Array("sf32".utf8) + zeros(4) + values.flatMap(fixed)
    }

    /// 10.15, in English.
    private static func text(_ text: String) -> [UInt8] {
        let units = text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        return Array("mluc".utf8) + zeros(4) + number(1) + number(12) + Array("enUS".utf8)
            + number(units.count) + number(28) + units
    }

    /// 4.6, s15Fixed16Number.
    private static func fixed(_ value: Double) -> [UInt8] {
        number(Int((value * 65_536).rounded()))
    }

    private static func number(_ value: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
}
