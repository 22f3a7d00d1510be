/// What load number n of the mix is: the same in every run, whoever makes it.
struct MixedChoice: Hashable {
    let work: MixedWork
    /// Which of the known images.
    let image: Int
    /// Pixels of the longer side, for a size of its own.
    let side: Int
    /// After how long it is given up.
    let cancelMilliseconds: Int

    init(number: Int) {
        var numbers = MixedNumbers(state: UInt64(number))
        let hundredth = Int(numbers.next() % 100)
        var sum = 0
        work =
            MixedWork.allCases.first {
                sum += $0.percent
                return hundredth < sum
            } ?? .hit
        image = Int(numbers.next() % UInt64(MixedBench.known))
        side = Int(64 + numbers.next() % 448)
        cancelMilliseconds = Int(1 + numbers.next() % 20)
    }
}

/// SplitMix64: numbers that follow from the first one.
private struct MixedNumbers {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
