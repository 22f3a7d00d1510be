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
        var numbers = SeededNumbers(number)
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
