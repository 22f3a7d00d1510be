/// The colors of an image whose file states them numerically, interpreted as browsers do.
package enum StatedColors: Hashable, Sendable {
    /// ITU-T H.273 code points in a PNG, which take precedence over a profile.
    case cicp(primaries: Int, transfer: Int)
    /// ITU-T H.273 code points in a HEIF, used only without a profile. Camera transfer curves such
    /// as BT.709, and unspecified ones, are treated as sRGB.
    case nclx(primaries: Int, transfer: Int)
    /// Chromaticities (sRGB if `nil`) and the exponent that converts samples to linear light.
    case measured(Chromaticities?, exponent: Double)

    /// Whether these take precedence over a profile in the same file.
    package var outranksProfile: Bool {
        if case .cicp = self { true } else { false }
    }
}

/// An RGB color space: primaries, white point, and transfer curve.
struct RGBColorSpace: Hashable {
    let chromaticities: Chromaticities
    let curve: ToneCurve

    /// Returns `nil` for a high dynamic range, and for colors that are shown as if none were
    /// stated.
    init?(_ colors: StatedColors) {
        switch colors {
        case .cicp(let primaries, let transfer):
            self.init(primaries: primaries, transfer: transfer)
        case .nclx(let primaries, let transfer):
            self.init(
                primaries: primaries == Self.unspecified ? Self.sRGBPrimaries : primaries,
                transfer: Self.shownAsSRGB.contains(transfer) ? Self.sRGBTransfer : transfer)
        case .measured(let chromaticities?, let exponent):
            self.init(chromaticities: chromaticities, curve: ToneCurve(exponent: exponent))
        case .measured(nil, let exponent):
            // Files older than sRGB approximate it by an exponent near 2.2.
            let isSRGB = abs(exponent / 2.2 - 1) < 0.05
            self.init(
                chromaticities: .sRGB, curve: isSRGB ? .sRGB : ToneCurve(exponent: exponent))
        }
    }

    private static let unspecified = 2
    private static let (sRGBPrimaries, sRGBTransfer) = (1, 13)
    /// Unspecified; BT.709, BT.601, BT.1361, 10- and 12-bit BT.2020, and xvYCC.
    private static let shownAsSRGB: Set<Int> = [unspecified, 1, 6, 11, 12, 14, 15]

    private init?(primaries: Int, transfer: Int) {
        guard let chromaticities = Chromaticities(codePoint: primaries),
            let curve = ToneCurve(codePoint: transfer)
        else { return nil }
        self.init(chromaticities: chromaticities, curve: curve)
    }

    private init(chromaticities: Chromaticities, curve: ToneCurve) {
        (self.chromaticities, self.curve) = (chromaticities, curve)
    }

    /// Returns whether samples have the same meaning as in sRGB. Gray has no primaries.
    func isSRGB(for space: ProfileSpace) -> Bool {
        curve == .sRGB && (space == .gray || chromaticities.isNear(.sRGB))
    }

    /// The XYZ values of red, green and blue, adapted to D50, the ICC white point (Bradford;
    /// ICC.1:2022, annex E); `nil` if the numbers are not valid colors.
    var colorants: [[Double]]? {
        let points = [chromaticities.red, chromaticities.green, chromaticities.blue]
        guard let white = chromaticities.white.xyz, let adaptation = chromaticities.adaptation
        else { return nil }
        let columns = Matrix3(columns: points.map { [$0.x, $0.y, 1 - $0.x - $0.y] })
        guard let scale = columns.inverse?.times(white) else { return nil }
        return zip(points, scale).map { point, scale in
            adaptation.times([point.x, point.y, 1 - point.x - point.y].map { $0 * scale })
        }
    }
}

/// White point and primaries as CIE 1931 xy.
package struct Chromaticities: Hashable, Sendable {
    /// One color.
    package struct Point: Hashable, Sendable {
        let x: Double
        let y: Double

        /// XYZ at a luminance of 1; `nil` if `y` is not positive.
        fileprivate var xyz: [Double]? { y > 0 ? [x / y, 1, (1 - x - y) / y] : nil }
    }

    let white: Point
    let red: Point
    let green: Point
    let blue: Point

    static let sRGB = Chromaticities([0.3127, 0.3290, 0.64, 0.33, 0.30, 0.60, 0.15, 0.06])

    /// Creates chromaticities from x and y of white, red, green and blue, in this order.
    init(_ numbers: [Double]) {
        precondition(numbers.count == 8)
        let points = stride(from: 0, to: 8, by: 2).map { Point(x: numbers[$0], y: numbers[$0 + 1]) }
        (white, red, green, blue) = (points[0], points[1], points[2], points[3])
    }

    /// ITU-T H.273, table 2.
    private static let byCodePoint: [Int: [Double]] = [
        1: [0.3127, 0.3290, 0.64, 0.33, 0.30, 0.60, 0.15, 0.06],
        4: [0.310, 0.316, 0.67, 0.33, 0.21, 0.71, 0.14, 0.08],
        5: [0.3127, 0.3290, 0.64, 0.33, 0.29, 0.60, 0.15, 0.06],
        6: [0.3127, 0.3290, 0.630, 0.340, 0.310, 0.595, 0.155, 0.070],
        7: [0.3127, 0.3290, 0.630, 0.340, 0.310, 0.595, 0.155, 0.070],
        8: [0.310, 0.316, 0.681, 0.319, 0.243, 0.692, 0.145, 0.049],
        9: [0.3127, 0.3290, 0.708, 0.292, 0.170, 0.797, 0.131, 0.046],
        10: [1.0 / 3, 1.0 / 3, 1, 0, 0, 1, 0, 0],
        11: [0.314, 0.351, 0.680, 0.320, 0.265, 0.690, 0.150, 0.060],
        12: [0.3127, 0.3290, 0.680, 0.320, 0.265, 0.690, 0.150, 0.060],
        22: [0.3127, 0.3290, 0.630, 0.340, 0.295, 0.605, 0.155, 0.077],
    ]

    /// Returns `nil` for 2 (unspecified) and for reserved values.
    fileprivate init?(codePoint: Int) {
        guard let numbers = Self.byCodePoint[codePoint] else { return nil }
        self.init(numbers)
    }

    /// Returns whether there is no visible difference.
    func isNear(_ other: Chromaticities) -> Bool {
        zip([white, red, green, blue], [other.white, other.red, other.green, other.blue])
            .allSatisfy { abs($0.x - $1.x) < 0.001 && abs($0.y - $1.y) < 0.001 }
    }

    /// The matrix that adapts from this white point to D50.
    var adaptation: Matrix3? {
        let bradford = Matrix3(rows: [
            [0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296],
        ])
        guard let white = white.xyz, let inverse = bradford.inverse else { return nil }
        let (from, to) = (bradford.times(white), bradford.times(ColorProfile.d50))
        guard from.allSatisfy({ $0 > 0 }) else { return nil }
        let scale = zip(to, from).map { $0 / $1 }
        let scaled = Matrix3(
            rows: zip(bradford.rows, scale).map { row, scale in
                row.map { $0 * scale }
            })
        return inverse.times(scaled)
    }
}

/// A transfer curve from samples 0 to 1 to linear light: `(a × sample + b) ^ exponent` from `d` up,
/// `c × sample` below (ICC.1:2022, table 68, function 3).
package struct ToneCurve: Hashable, Sendable {
    let exponent: Double
    let a: Double
    let b: Double
    let c: Double
    let d: Double

    static let sRGB = ToneCurve(
        exponent: 2.4, a: 1 / 1.055, b: 0.055 / 1.055, c: 1 / 12.92, d: 0.04045)

    private init(exponent: Double, a: Double, b: Double, c: Double, d: Double) {
        (self.exponent, self.a, self.b, self.c, self.d) = (exponent, a, b, c, d)
    }

    /// A pure power.
    fileprivate init(exponent: Double) { self.init(exponent: exponent, a: 1, b: 0, c: 0, d: 0) }

    /// A transfer function of ITU-T H.273, table 3; `nil` for logarithmic and high dynamic range
    /// ones, and for 2 (unspecified). BT.709 and related material is displayed by BT.1886, as in
    /// browsers.
    fileprivate init?(codePoint: Int) {
        switch codePoint {
        case 1, 6, 11, 14, 15: self.init(exponent: 2.4)
        case 4: self.init(exponent: 2.2)
        case 5: self.init(exponent: 2.8)
        case 7:
            self.init(
                exponent: 1 / 0.45, a: 1 / 1.1115, b: 0.1115 / 1.1115, c: 0.25, d: 0.0913)
        case 8: self.init(exponent: 1)
        case 13: self = .sRGB
        // 52.37 / 48 × sample ^ 2.6, with the factor moved into the power.
        case 17: self.init(exponent: 2.6, a: 1.034_081, b: 0, c: 0, d: 0)
        default: return nil
        }
    }
}

struct Matrix3 {
    let rows: [[Double]]

    init(rows: [[Double]]) { self.rows = rows }

    init(columns: [[Double]]) {
        self.init(rows: (0..<3).map { row in columns.map { $0[row] } })
    }

    func times(_ vector: [Double]) -> [Double] {
        rows.map { row in zip(row, vector).reduce(0) { $0 + $1.0 * $1.1 } }
    }

    func times(_ other: Matrix3) -> Matrix3 {
        Matrix3(columns: (0..<3).map { column in times(other.rows.map { $0[column] }) })
    }

    /// The inverse, computed by cofactors; `nil` for a singular matrix.
    var inverse: Matrix3? {
        func cofactor(_ row: Int, _ column: Int) -> Double {
            let (r, s) = ((row + 1) % 3, (row + 2) % 3)
            let (c, d) = ((column + 1) % 3, (column + 2) % 3)
            return rows[r][c] * rows[s][d] - rows[r][d] * rows[s][c]
        }
        let determinant = (0..<3).reduce(0) { $0 + rows[0][$1] * cofactor(0, $1) }
        guard abs(determinant) > 1e-9 else { return nil }
        return Matrix3(
            rows: (0..<3).map { row in
                (0..<3).map { cofactor($0, row) / determinant }
            })
    }
}

/// An RGB color space of a high dynamic range, brighter than SDR white (ITU-R BT.2100), identified
/// by ITU-T H.273 code points.
public struct HDRColors: Hashable, Sendable {
    /// The transfer function.
    public enum Transfer: UInt8, Hashable, Sendable, CaseIterable {
        /// SMPTE ST 2084 (PQ): up to 10,000 cd/m².
        case pq = 16
        /// ARIB STD-B67 (HLG): relative to the peak brightness of the display.
        case hlg = 18
    }

    /// The primaries; the white point is always D65.
    public enum Primaries: UInt8, Hashable, Sendable, CaseIterable {
        case bt709 = 1
        case bt2020 = 9
        case displayP3 = 12
    }

    /// The primaries.
    public var primaries: Primaries
    /// The transfer function.
    public var transfer: Transfer

    /// Creates a color space from primaries and a transfer function.
    public init(primaries: Primaries, transfer: Transfer) {
        (self.primaries, self.transfer) = (primaries, transfer)
    }

    /// A color space by the code points in a file; `nil` for any other value.
    package init?(primaries: Int, transfer: Int) {
        guard let primaries = UInt8(exactly: primaries).flatMap(Primaries.init(rawValue:)),
            let transfer = UInt8(exactly: transfer).flatMap(Transfer.init(rawValue:))
        else { return nil }
        self.init(primaries: primaries, transfer: transfer)
    }

    /// A color space from a file's statement; `nil` for a standard dynamic range.
    package init?(_ colors: StatedColors) {
        switch colors {
        case .cicp(let primaries, let transfer), .nclx(let primaries, let transfer):
            self.init(primaries: primaries, transfer: transfer)
        case .measured: return nil
        }
    }

    /// The luminance of SDR white in cd/m² (ITU-R BT.2408, 3.1). Brighter values are clipped to
    /// white in sRGB.
    package static let whiteNits = 203.0
    /// The peak luminance in cd/m² of the display for which HLG is decoded (ITU-R BT.2100, table
    /// 5).
    package static let nominalPeakNits = 1_000.0
}

extension HDRColors.Primaries {
    /// The matrix from linear RGB of these primaries to linear sRGB (ITU-R BT.2087 for BT.2020; the
    /// others are derived from their chromaticities in the same way).
    package var toSRGB: [[Double]] {
        switch self {
        case .bt709: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
        case .bt2020:
            [
                [1.660491, -0.587641, -0.072850], [-0.124550, 1.132900, -0.008349],
                [-0.018151, -0.100579, 1.118730],
            ]
        case .displayP3:
            [
                [1.224940, -0.224940, 0], [-0.042057, 1.042057, 0],
                [-0.019638, -0.078636, 1.098274],
            ]
        }
    }

    /// The luminance coefficients.
    package var luminance: [Double] {
        switch self {
        case .bt709: [0.2126, 0.7152, 0.0722]
        case .bt2020: [0.2627, 0.6780, 0.0593]
        case .displayP3: [0.2290, 0.6917, 0.0793]
        }
    }
}

extension HDRColors {
    /// Reads an ICC profile: its H.273 code points (ICC.1:2022, 9.2.17), otherwise the red transfer
    /// curve, since libjxl and others write PQ and HLG without code points. Returns `nil` for other
    /// colors and for invalid profiles.
    package init?(profile: borrowing HeaderBytes) {
        let tags = ProfileTags(profile)
        if let start = tags.start(of: "cicp", profile) {
            guard let primaries = profile.bigEndian(1, at: start + 8),
                let transfer = profile.bigEndian(1, at: start + 9)
            else { return nil }
            self.init(primaries: primaries, transfer: transfer)
            return
        }
        guard let curve = tags.start(of: "rTRC", profile),
            let red = tags.start(of: "rXYZ", profile),
            let transfer = Transfer(curve: curve, profile),
            let primaries = Primaries(red: red, profile)
        else { return nil }
        self.init(primaries: primaries, transfer: transfer)
    }
}

extension HDRColors.Transfer {
    /// Linear light at a quarter, a half and three quarters of the sample range: for PQ in units of
    /// 10,000 cd/m², for HLG scene light (ITU-R BT.2100, tables 4 and 5).
    private var light: [Double] {
        switch self {
        case .pq: [0.000515_49, 0.009224_57, 0.098337_6]
        case .hlg: [0.020833_3, 0.083333_3, 0.264962_6]
        }
    }

    /// The minimum number of points of a curve that is compared.
    private static let pointsMin = 256
    /// The relative and absolute tolerance of a point.
    private static let (relative, absolute) = (0.05, 0.000_05)

    fileprivate init?(curve start: Int, _ profile: borrowing HeaderBytes) {
        guard profile.has("curv", at: start), let count = profile.bigEndian(4, at: start + 8),
            count >= Self.pointsMin
        else { return nil }
        var points: [Double] = []
        for quarter in 1...3 {
            let place = Double(count - 1) * Double(quarter) / 4
            let (index, part) = (Int(place), place - place.rounded(.down))
            guard let low = profile.bigEndian(2, at: start + 12 + 2 * index),
                let high = profile.bigEndian(2, at: start + 14 + 2 * index)
            else { return nil }
            points.append((Double(low) * (1 - part) + Double(high) * part) / 65_535)
        }
        let found = Self.allCases.first { transfer in
            zip(points, transfer.light).allSatisfy { point, light in
                abs(point - light) <= light * Self.relative + Self.absolute
            }
        }
        guard let found else { return nil }
        self = found
    }
}

extension HDRColors.Primaries {
    /// The X of red, adapted to D50 as in profiles.
    private var redX: Double {
        switch self {
        case .bt709: 0.4361
        case .bt2020: 0.6735
        case .displayP3: 0.5151
        }
    }

    fileprivate init?(red start: Int, _ profile: borrowing HeaderBytes) {
        guard profile.has("XYZ ", at: start), let x = profile.bigEndian(4, at: start + 8),
            let found = Self.allCases.first(where: { abs($0.redX - Double(x) / 65_536) < 0.01 })
        else { return nil }
        self = found
    }
}

/// The sample format of pixels: bit depth and color space.
public struct SampleForm: Hashable, Sendable {
    /// 8 to 16. Samples of more than 8 bits occupy two bytes in native byte order and use the full
    /// range: 65,535 is 1.
    public var bits: Int
    /// The HDR color space; if `nil`, sRGB or gray, or the space of an accompanying profile.
    public var hdr: HDRColors?

    /// Creates a sample format.
    public init(bits: Int = 8, hdr: HDRColors? = nil) {
        (self.bits, self.hdr) = (bits, hdr)
    }

    /// 8-bit sRGB or gray.
    public static let standard = SampleForm()

    /// The valid range of `bits`.
    public static let bitsRange = 8...16

    /// Whether samples have more than 8 bits.
    public var isDeep: Bool { bits > 8 }

    /// Bytes per sample.
    public var bytes: Int { isDeep ? 2 : 1 }

    /// Whether the combination is valid: a high dynamic range needs more than 8 bits.
    package var isPossible: Bool {
        Self.bitsRange.contains(bits) && (hdr == nil || isDeep)
    }
}
