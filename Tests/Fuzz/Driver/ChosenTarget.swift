import FuzzTargets
import Glibc

/// The target named by the environment. libFuzzer's main restarts itself with only its own
/// arguments, so the target can't be passed as one.
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
