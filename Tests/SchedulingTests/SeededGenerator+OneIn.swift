import TestKit

extension SeededGenerator {
    /// True with a probability of 1/`count`.
    mutating func oneIn(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }
}
