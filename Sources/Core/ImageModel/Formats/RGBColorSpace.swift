/// An RGB color space: what its primaries and white are, and how samples become light.
struct RGBColorSpace: Hashable {
    let chromaticities: Chromaticities
    let curve: ToneCurve

    /// `nil` for a high dynamic range, and for what is shown as if nothing were stated.
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
            // A power near 2.2 is how files from before sRGB had a name approximate it.
            let isSRGB = abs(exponent / 2.2 - 1) < 0.05
            self.init(
                chromaticities: .sRGB, curve: isSRGB ? .sRGB : ToneCurve(exponent: exponent))
        }
    }

    private static let unspecified = 2
    private static let (sRGBPrimaries, sRGBTransfer) = (1, 13)
    /// Unspecified; BT.709, BT.601, BT.1361, BT.2020 in 10 and 12 bits, and xvYCC.
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

    /// Whether samples mean the same as in sRGB. Grey has no primaries.
    func isSRGB(for space: ProfileSpace) -> Bool {
        curve == .sRGB && (space == .grey || chromaticities.isNear(.sRGB))
    }

    /// X, Y and Z of red, green and blue, adapted to D50, the white of ICC profiles, as
    /// ICC.1:2022, annex E says (Bradford); `nil` for numbers that are no colors.
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

/// White and primaries as CIE 1931 x and y.
package struct Chromaticities: Hashable, Sendable {
    /// One color.
    package struct Point: Hashable, Sendable {
        let x: Double
        let y: Double

        /// X, Y and Z at a luminance of 1; `nil` without any.
        fileprivate var xyz: [Double]? { y > 0 ? [x / y, 1, (1 - x - y) / y] : nil }
    }

    let white: Point
    let red: Point
    let green: Point
    let blue: Point

    static let sRGB = Chromaticities([0.3127, 0.3290, 0.64, 0.33, 0.30, 0.60, 0.15, 0.06])

    /// x and y of white, red, green and blue, in this order.
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

    /// `nil` for 2, which says nothing, and for numbers that are reserved.
    fileprivate init?(codePoint: Int) {
        guard let numbers = Self.byCodePoint[codePoint] else { return nil }
        self.init(numbers)
    }

    /// Whether no color differs visibly.
    func isNear(_ other: Chromaticities) -> Bool {
        zip([white, red, green, blue], [other.white, other.red, other.green, other.blue])
            .allSatisfy { abs($0.x - $1.x) < 0.001 && abs($0.y - $1.y) < 0.001 }
    }

    /// From their white to D50.
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

/// How samples from 0 to 1 become light: `(a × sample + b) ^ exponent` from `d` on, `c × sample`
/// below (ICC.1:2022, table 68, function 3).
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

    /// A power.
    fileprivate init(exponent: Double) { self.init(exponent: exponent, a: 1, b: 0, c: 0, d: 0) }

    /// ITU-T H.273, table 3; `nil` for logarithms, a high dynamic range, and 2, which says nothing.
    /// What BT.709 and its like have recorded is displayed by BT.1886, as browsers do.
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
        // (52.37 / 48 × sample ^ 2.6), within the power.
        case 17: self.init(exponent: 2.6, a: 1.034_081, b: 0, c: 0, d: 0)
        default: return nil
        }
    }
}

/// A matrix of three rows and columns.
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

    /// By cofactors; `nil` where there is none.
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
