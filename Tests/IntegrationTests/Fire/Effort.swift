import Linux
import TestKit

/// How long the tests run that play with chance: short by default, as long as wanted with
/// `IMAGEBUS_LONG=1`, each length with a variable of its own.
enum Effort {
    static let isLong = CurrentProcess.environment("IMAGEBUS_LONG") == "1"

    /// `IMAGEBUS_<name>`, else one of two lengths.
    static func count(_ name: String, short: Int, long: Int) -> Int {
        let wanted = CurrentProcess.environment("IMAGEBUS_\(name)").flatMap { Int($0) }
        return wanted ?? (isLong ? long : short)
    }

    /// A generator with `IMAGEBUS_SEED`, else the same seed in every short run and another one in
    /// every long run; it is printed.
    static func generator(_ test: String) -> SeededGenerator {
        let wanted = CurrentProcess.environment("IMAGEBUS_SEED").flatMap { UInt64($0) }
        let seed = wanted ?? (isLong ? Random.uint64() : 1)
        print("\(test): IMAGEBUS_SEED=\(seed)")
        return SeededGenerator(seed: seed)
    }
}
