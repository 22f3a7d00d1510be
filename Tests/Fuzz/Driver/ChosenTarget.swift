import FuzzTargets
import Glibc

/// The target that the environment names. libFuzzer's main starts itself again with its own
/// arguments alone, so that none of them can carry it.
enum ChosenTarget {
    static let value: FuzzTarget = {
        guard let name = getenv("IMAGEBUS_FUZZ_TARGET"),
            let target = FuzzTarget(rawValue: String(cString: name))
        else {
            let names = FuzzTarget.allCases.map(\.rawValue).joined(separator: ", ")
            fatalError("IMAGEBUS_FUZZ_TARGET is one of \(names)")
        }
        return target
    }()
}
