/// Estimates how often hashes were seen recently: four rows of counters up to 15, halved after ten
/// times as many events as there are counters in a row.
struct FrequencySketch: Sendable {
    private var counters: [UInt8]
    private let mask: UInt64
    private var events = 0

    init(width: Int) {
        var size = 1_024
        while size < width { size *= 2 }
        mask = UInt64(size - 1)
        counters = [UInt8](repeating: 0, count: size * 4)
    }

    mutating func note(_ hash: UInt64) {
        for row in 0..<4 {
            let place = place(hash, row)
            if counters[place] < 15 { counters[place] += 1 }
        }
        events += 1
        guard events >= 10 * (Int(mask) + 1) else { return }
        events /= 2
        for place in counters.indices { counters[place] /= 2 }
    }

    func frequency(_ hash: UInt64) -> UInt8 {
        var least = UInt8.max
        for row in 0..<4 { least = min(least, counters[place(hash, row)]) }
        return least
    }

    private func place(_ hash: UInt64, _ row: Int) -> Int {
        var mixed = hash &+ UInt64(row) &* 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return row * Int(mask + 1) + Int((mixed ^ (mixed >> 31)) & mask)
    }
}
