import TestKit

/// Applies small random changes to inputs, like a fuzzer, from a seed.
struct Mutator {
    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    /// One of the inputs with one to four changes.
    mutating func mutation(of inputs: [[UInt8]]) -> [UInt8] {
        var bytes = inputs.randomElement(using: &random) ?? []
        for _ in 0..<Int.random(in: 1...4, using: &random) { change(&bytes, with: inputs) }
        return bytes
    }

    private mutating func change(_ bytes: inout [UInt8], with inputs: [[UInt8]]) {
        let place = Int.random(in: 0...bytes.count, using: &random)
        let edges: [UInt8] = [0, 1, 0x7F, 0x80, 0xFC, 0xFD, 0xFE, 0xFF]
        switch Int.random(in: 0..<6, using: &random) {
        case 0 where place < bytes.count:
            bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1 where place < bytes.count:
            bytes[place] = edges.randomElement(using: &random) ?? 0
        case 2: bytes.removeSubrange(place...)
        case 3: bytes.insert(contentsOf: bytes[place...].prefix(32), at: place)
        case 4:
            let other = inputs.randomElement(using: &random) ?? []
            let start = Int.random(in: 0...other.count, using: &random)
            bytes = Array(bytes[..<place] + other[start...].prefix(256))
        default: bytes.insert(UInt8.random(in: .min ... .max, using: &random), at: place)
        }
    }
}
