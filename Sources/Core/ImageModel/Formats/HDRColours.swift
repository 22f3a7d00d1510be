/// Colours with light above that of SDR white, by the numbers of ITU-T H.273: red, green and blue
/// of a high dynamic range (ITU-R BT.2100).
public struct HDRColours: Hashable, Sendable {
    /// What a sample means in light.
    public enum Transfer: UInt8, Hashable, Sendable, CaseIterable {
        /// SMPTE ST 2084: up to 10,000 candela per square metre.
        case pq = 16
        /// ARIB STD-B67: parts of what the display can show.
        case hlg = 18
    }

    /// Which red, green and blue; the white of all is D65.
    public enum Primaries: UInt8, Hashable, Sendable, CaseIterable {
        case bt709 = 1
        case bt2020 = 9
        case displayP3 = 12
    }

    /// Which colours.
    public var primaries: Primaries
    /// How much light.
    public var transfer: Transfer

    /// Names colours.
    public init(primaries: Primaries, transfer: Transfer) {
        (self.primaries, self.transfer) = (primaries, transfer)
    }

    /// Colours by their numbers in a file; `nil` for others than these.
    package init?(primaries: Int, transfer: Int) {
        guard let primaries = UInt8(exactly: primaries).flatMap(Primaries.init(rawValue:)),
            let transfer = UInt8(exactly: transfer).flatMap(Transfer.init(rawValue:))
        else { return nil }
        self.init(primaries: primaries, transfer: transfer)
    }

    /// Colors as a file states them; `nil` for those of a standard dynamic range.
    package init?(_ colors: StatedColors) {
        switch colors {
        case .cicp(let primaries, let transfer), .nclx(let primaries, let transfer):
            self.init(primaries: primaries, transfer: transfer)
        case .measured: return nil
        }
    }

    /// The light of SDR white, in candela per square metre (ITU-R BT.2408, 3.1): what has more
    /// becomes white in sRGB.
    package static let whiteNits = 203.0
    /// The display for which HLG is decoded (ITU-R BT.2100, table 5).
    package static let nominalPeakNits = 1_000.0
}

extension HDRColours.Primaries {
    /// What of their linear red, green and blue each of those of sRGB has (ITU-R BT.2087 for those
    /// of BT.2020; the others by the same rule of their chromaticities).
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

    /// What each of them adds to luminance.
    package var luminance: [Double] {
        switch self {
        case .bt709: [0.2126, 0.7152, 0.0722]
        case .bt2020: [0.2627, 0.6780, 0.0593]
        case .displayP3: [0.2290, 0.6917, 0.0793]
        }
    }
}
