/// The table of tags behind the header of a profile (ICC.1:2022, 7.3).
struct ProfileTags {
    private static let tagsMax = 100
    private static let tableStart = 128
    private let count: Int

    init(_ profile: borrowing HeaderBytes) {
        count = min(profile.bigEndian(4, at: Self.tableStart) ?? 0, Self.tagsMax)
    }

    /// Where what the tag names begins.
    func start(of tag: StaticString, _ profile: borrowing HeaderBytes) -> Int? {
        for index in 0..<count {
            let entry = Self.tableStart + 4 + 12 * index
            if profile.has(tag, at: entry) { return profile.bigEndian(4, at: entry + 4) }
        }
        return nil
    }
}

extension SampleProfile {
    /// Whether it converts by tables of the perceptual intent, and has nothing for others.
    package var isPerceptualOnly: Bool {
        let profile = HeaderBytes(bytes.span)
        let tags = ProfileTags(profile)
        let isMatrix =
            tags.start(of: "rXYZ", profile) != nil || tags.start(of: "kTRC", profile) != nil
        return tags.start(of: "A2B0", profile) != nil && tags.start(of: "A2B1", profile) == nil
            && !isMatrix
    }

    /// Whether it says nothing but sRGB, or of grey its curve: no sample of 8 bits would change by
    /// more than one.
    package var isSRGB: Bool {
        let profile = HeaderBytes(bytes.span)
        let tags = ProfileTags(profile)
        // Tables take precedence over a matrix.
        guard tags.start(of: "A2B0", profile) == nil, tags.start(of: "A2B1", profile) == nil else {
            return false
        }
        switch space {
        case .cmyk: return false
        case .grey: return tags.isSRGBCurve("kTRC", profile)
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
    /// How far X, Y and Z may be away: profiles of sRGB differ in how they round.
    private static let colorantTolerance = 0.002
    /// The curve of sRGB at each sixteenth (IEC 61966-2-1).
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

    /// ICC.1:2022, 10.18: exponent, a, b, c, d, and e and f, which may be added to both parts.
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

    /// ICC.1:2022, 10.6: points at equal distances, to which one is no more than the next sample
    /// of 8 bits.
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
    /// A number with a sign and 16 bits behind the point (ICC.1:2022, 4.6).
    fileprivate func fixed(at offset: Int) -> Double? {
        bigEndian(4, at: offset).map { Double(Int32(truncatingIfNeeded: $0)) / 65_536 }
    }
}
