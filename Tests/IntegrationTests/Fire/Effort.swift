/// The length of randomized tests: short by default, long with `IMAGEBUS_LONG=1`, and adjustable
/// per test with a variable.
enum Effort {
    static let isLong = CurrentProcess.environment("IMAGEBUS_LONG") == "1"

    /// `IMAGEBUS_<name>`, otherwise the short or the long count.
    static func count(_ name: String, short: Int, long: Int) -> Int {
        let wanted = CurrentProcess.environment("IMAGEBUS_\(name)").flatMap { Int($0) }
        return wanted ?? (isLong ? long : short)
    }

    /// A generator seeded with `IMAGEBUS_SEED`, otherwise with a fixed seed in short runs and a new
    /// one in long runs; the seed is printed.
    static func generator(_ test: String) -> SeededGenerator {
        let wanted = CurrentProcess.environment("IMAGEBUS_SEED").flatMap { UInt64($0) }
        let seed = wanted ?? (isLong ? Random.uint64() : 1)
        print("\(test): IMAGEBUS_SEED=\(seed)")
        return SeededGenerator(seed: seed)
    }
}
