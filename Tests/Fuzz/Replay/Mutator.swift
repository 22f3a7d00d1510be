/// Changes inputs a little, as a fuzzer does, from a seed (SplitMix64).
struct Mutator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }

    /// One of the inputs with one to four changes.
    mutating func mutation(of inputs: [[UInt8]]) -> [UInt8] {
        var bytes = inputs.randomElement(using: &self) ?? []
        for _ in 0..<Int.random(in: 1...4, using: &self) { change(&bytes, with: inputs) }
        return bytes
    }

    private mutating func change(_ bytes: inout [UInt8], with inputs: [[UInt8]]) {
        let place = Int.random(in: 0...bytes.count, using: &self)
        let edges: [UInt8] = [0, 1, 0x7F, 0x80, 0xFC, 0xFD, 0xFE, 0xFF]
        switch Int.random(in: 0..<6, using: &self) {
        case 0 where place < bytes.count:
            bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &self)
        case 1 where place < bytes.count:
            bytes[place] = edges.randomElement(using: &self) ?? 0
        case 2: bytes.removeSubrange(place...)
        case 3: bytes.insert(contentsOf: bytes[place...].prefix(32), at: place)
        case 4:
            let other = inputs.randomElement(using: &self) ?? []
            let start = Int.random(in: 0...other.count, using: &self)
            bytes = Array(bytes[..<place] + other[start...].prefix(256))
        default: bytes.insert(UInt8.random(in: .min ... .max, using: &self), at: place)
        }
    }
}
