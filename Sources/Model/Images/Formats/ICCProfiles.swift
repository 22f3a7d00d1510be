/// An ICC profile that defines the meaning of an image's samples.
package struct SampleProfile: Hashable, Sendable {
    /// The whole profile.
    package let bytes: [UInt8]
    /// The profile's color space: that of the samples, or RGB for gray samples, which are then
    /// replicated to three channels.
    package let space: ProfileSpace

    /// Validates a profile embedded in a file.
    ///
    /// - Parameters:
    ///   - bytes: the profile as stored in the file.
    ///   - space: the color space of the samples; `nil` if no profile applies to them.
    /// - Returns: `nil` for an incomplete profile or one of another color space. The image is then
    ///   displayed as if it had none, as in browsers.
    package init?(_ bytes: UnsafeRawBufferPointer, for space: ProfileSpace?) {
        guard let found = ProfileSpace(bytes), found == space || (found, space) == (.rgb, .gray)
        else { return nil }
        (self.bytes, self.space) = (Array(bytes), found)
    }

    /// Builds a profile from numerically stated colors.
    ///
    /// - Returns: `nil` for colors that are displayed as sRGB, and for samples other than RGB or
    ///   gray.
    package init?(_ colors: StatedColors, for space: ProfileSpace?) {
        guard let space, space != .cmyk, let colors = RGBColorSpace(colors),
            !colors.isSRGB(for: space), let profile = ColorProfile(colors, for: space)
        else { return nil }
        (bytes, self.space) = (profile.bytes, space)
    }

    /// Selects which of an embedded profile and stated colors takes precedence.
    package init?(
        _ embedded: SampleProfile?, stated: StatedColors?, for space: ProfileSpace?
    ) {
        let built = stated.flatMap { SampleProfile($0, for: space) }
        guard let profile = stated?.outranksProfile == true ? built : embedded ?? built else {
            return nil
        }
        self = profile
    }
}

/// The color space that an ICC profile applies to, by its signature (ICC.1:2022, table 19).
package enum ProfileSpace: String, Hashable, Sendable {
    case rgb = "RGB "
    case gray = "GRAY"
    case cmyk = "CMYK"

    private static let headerBytes = 128
    /// Input, display, output and color space profiles; not device links and other classes.
    private static let classes = ["scnr", "mntr", "prtr", "spac"]

    /// Reads the profile header (ICC.1:2022, 7.2); returns `nil` for other color spaces and for an
    /// incomplete profile.
    package init?(_ profile: some RandomAccessCollection<UInt8>) {
        let header = Array(profile.prefix(Self.headerBytes))
        guard profile.count > Self.headerBytes, header[36..<40].elementsEqual("acsp".utf8),
            Self.classes.contains(where: { header[12..<16].elementsEqual($0.utf8) }),
            header[..<4].reduce(0, { $0 << 8 | Int($1) }) <= profile.count
        else { return nil }
        self.init(rawValue: String(decoding: header[16..<20], as: UTF8.self))
    }
}

/// The tag table after the profile header (ICC.1:2022, 7.3).
struct ProfileTags {
    private static let tagsMax = 100
    private static let tableStart = 128
    private let count: Int

    init(_ profile: borrowing HeaderBytes) {
        count = min(profile.bigEndian(4, at: Self.tableStart) ?? 0, Self.tagsMax)
    }

    /// Returns the offset of a tag's data.
    func start(of tag: StaticString, _ profile: borrowing HeaderBytes) -> Int? {
        for index in 0..<count {
            let entry = Self.tableStart + 4 + 12 * index
            if profile.has(tag, at: entry) { return profile.bigEndian(4, at: entry + 4) }
        }
        return nil
    }
}

extension SampleProfile {
    /// Whether the profile has tables for the perceptual intent and for no other.
    package var isPerceptualOnly: Bool {
        let profile = HeaderBytes(bytes.span)
        let tags = ProfileTags(profile)
        let isMatrix =
            tags.start(of: "rXYZ", profile) != nil || tags.start(of: "kTRC", profile) != nil
        return tags.start(of: "A2B0", profile) != nil && tags.start(of: "A2B1", profile) == nil
            && !isMatrix
    }

    /// Whether the profile is equivalent to sRGB (for gray: to its curve), so that no 8-bit sample
    /// would change by more than one.
    package var isSRGB: Bool {
        let profile = HeaderBytes(bytes.span)
        let tags = ProfileTags(profile)
        // Tables take precedence over a matrix.
        guard tags.start(of: "A2B0", profile) == nil, tags.start(of: "A2B1", profile) == nil else {
            return false
        }
        switch space {
        case .cmyk: return false
        case .gray: return tags.isSRGBCurve("kTRC", profile)
        case .rgb:
            let colorants: [(StaticString, [Double])] = [
                ("rXYZ", [0.4361, 0.2225, 0.0139]), ("gXYZ", [0.3851, 0.7169, 0.0971]),
                ("bXYZ", [0.1431, 0.0606, 0.7141]),
            ]
            let curves: [StaticString] = ["rTRC", "gTRC", "bTRC"]
            return colorants.allSatisfy { tags.isColorant($0, near: $1, profile) }
                && curves.allSatisfy { tags.isSRGBCurve($0, profile) }
        }
    }
}

extension ProfileTags {
    /// The tolerance of X, Y and Z: sRGB profiles differ in rounding.
    private static let colorantTolerance = 0.002
    /// The sRGB curve at each sixteenth (IEC 61966-2-1).
    private static let sRGBLight = [
        0, 0.005_156, 0.014_350, 0.029_343, 0.050_876, 0.079_581, 0.116_016, 0.160_683, 0.214_041,
        0.276_518, 0.348_510, 0.430_393, 0.522_522, 0.625_232, 0.738_845, 0.863_669, 1,
    ]

    fileprivate func isColorant(
        _ tag: StaticString, near wanted: [Double], _ profile: borrowing HeaderBytes
    ) -> Bool {
        guard let start = start(of: tag, profile), profile.has("XYZ ", at: start) else {
            return false
        }
        for (index, wanted) in wanted.enumerated() {
            guard let value = profile.fixed(at: start + 8 + 4 * index),
                abs(value - wanted) <= Self.colorantTolerance
            else { return false }
        }
        return true
    }

    fileprivate func isSRGBCurve(_ tag: StaticString, _ profile: borrowing HeaderBytes) -> Bool {
        guard let start = start(of: tag, profile) else { return false }
        if profile.has("para", at: start) { return isSRGBFunction(at: start, profile) }
        return profile.has("curv", at: start) && isSRGBTable(at: start, profile)
    }

    /// Parametric curve (ICC.1:2022, 10.18): exponent, a, b, c, d, then offsets e and f for both
    /// parts.
    private func isSRGBFunction(at start: Int, _ profile: borrowing HeaderBytes) -> Bool {
        guard let kind = profile.bigEndian(2, at: start + 8), [3, 4].contains(kind) else {
            return false
        }
        let wanted = [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045, 0, 0]
        for index in 0..<(kind == 3 ? 5 : 7) {
            guard let value = profile.fixed(at: start + 12 + 4 * index),
                abs(value - wanted[index]) <= 0.002
            else { return false }
        }
        return true
    }

    /// Sampled curve (ICC.1:2022, 10.6): equidistant points, compared with a tolerance of one 8-bit
    /// step.
    private func isSRGBTable(at start: Int, _ profile: borrowing HeaderBytes) -> Bool {
        guard let count = profile.bigEndian(4, at: start + 8), count >= 16 else { return false }
        let parts = Self.sRGBLight.count - 1
        for (part, wanted) in Self.sRGBLight.enumerated() {
            let place = Double(count - 1) * Double(part) / Double(parts)
            let (index, rest) = (Int(place), place - place.rounded(.down))
            guard let low = profile.bigEndian(2, at: start + 12 + 2 * index),
                let high = profile.bigEndian(2, at: start + 12 + 2 * min(index + 1, count - 1))
            else { return false }
            let light = (Double(low) * (1 - rest) + Double(high) * rest) / 65_535
            let next = Self.sRGBLight[min(part + 1, parts)]
            let last = Self.sRGBLight[max(part - 1, 0)]
            let oneSample = (next - last) / 2 * Double(parts) / 255
            guard abs(light - wanted) <= oneSample else { return false }
        }
        return true
    }
}

extension HeaderBytes {
    /// Reads a signed 16.16 fixed-point number (ICC.1:2022, 4.6).
    fileprivate func fixed(at offset: Int) -> Double? {
        bigEndian(4, at: offset).map { Double(Int32(truncatingIfNeeded: $0)) / 65_536 }
    }
}

/// An ICC profile generated from numerically stated colors (ICC.1:2022).
struct ColorProfile {
    /// The XYZ values of the profile connection space's white point (7.2.16).
    static let d50 = [0.9642, 1, 0.8249]

    private static let headerBytes = 128
    private static let version: [UInt8] = [4, 0x40, 0, 0]
    private static let relativeColorimetric = 1

    /// The whole profile.
    let bytes: [UInt8]

    /// - Returns: `nil` if the numbers are not valid colors.
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

    /// Section 7.2: a display profile with the connection space XYZ.
    private static func header(_ space: ProfileSpace, size: Int) -> [UInt8] {
        var header = number(size) + zeros(4) + version
        header += Array("mntr\(space.rawValue)XYZ ".utf8)
        // A fixed date, 1 January 2000, so that equal input produces equal bytes.
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
            ("desc", text("Imagebus custom color space")), ("cprt", text("No copyright")),
            ("wtpt", xyz(d50)), ("chad", array(adaptation)),
        ]
        guard space == .rgb else { return common + [("kTRC", curve)] }
        let colorTags = zip(["rXYZ", "gXYZ", "bXYZ"], colorants.map(xyz)).map { ($0, $1) }
        return common + colorTags + ["rTRC", "gTRC", "bTRC"].map { ($0, curve) }
    }

    /// Section 10.18, function 3.
    private static func parametric(_ curve: ToneCurve) -> [UInt8] {
        Array("para".utf8) + zeros(4) + [0, 3, 0, 0]
            + [curve.exponent, curve.a, curve.b, curve.c, curve.d].flatMap(fixed)
    }

    /// Section 10.31.
    private static func xyz(_ values: [Double]) -> [UInt8] {
        Array("XYZ ".utf8) + zeros(4) + values.flatMap(fixed)
    }

    /// Section 10.22.
    private static func array(_ values: [Double]) -> [UInt8] {
        Array("sf32".utf8) + zeros(4) + values.flatMap(fixed)
    }

    /// Section 10.15, in English.
    private static func text(_ text: String) -> [UInt8] {
        let units = text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        return Array("mluc".utf8) + zeros(4) + number(1) + number(12) + Array("enUS".utf8)
            + number(units.count) + number(28) + units
    }

    /// Section 4.6, s15Fixed16Number.
    private static func fixed(_ value: Double) -> [UInt8] {
        number(Int((value * 65_536).rounded()))
    }

    private static func number(_ value: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
}
