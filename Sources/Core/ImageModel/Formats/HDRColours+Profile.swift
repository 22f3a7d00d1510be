extension HDRColours {
    /// What an ICC profile says: by its numbers of H.273 (ICC.1:2022, 9.2.17), else by the curve of
    /// its red, which libjxl and others write for PQ and HLG without such numbers. `nil` for other
    /// colours, and for what is no profile.
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

extension HDRColours.Transfer {
    /// Light at a quarter, a half and three quarters of a sample: of PQ in parts of 10,000 candela
    /// per square metre, of HLG in the scene (ITU-R BT.2100, tables 4 and 5).
    private var light: [Double] {
        switch self {
        case .pq: [0.000515_49, 0.009224_57, 0.098337_6]
        case .hlg: [0.020833_3, 0.083333_3, 0.264962_6]
        }
    }

    /// Of a curve of that many points at least.
    private static let pointsMin = 256
    /// How much of the light a point may be away, and in all.
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

extension HDRColours.Primaries {
    /// The X of red, adapted to D50 as profiles have it.
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
