import CLinux
import Glibc

extension ChildCommand {
    /// Starts the child (posix_spawn) and returns its number.
    func spawn() throws(Errno) -> ProcessID {
        let path = try checked(path: executable)
        let directory = try workingDirectory.map { (text) throws(Errno) in try checked(path: text) }
        let argumentList = try CStringList([executable] + arguments)
        let environmentList = try CStringList(environment.map { "\($0.key)=\($0.value)" })
        let plan = try DescriptorPlan(descriptors)
        var process: Int32 = 0
        let result = clinux_spawn(
            &process, path, argumentList.pointers, environmentList.pointers,
            plan.actions, plan.actions.count, plan.closeFrom, directory, leadsGroup)
        // The strings and the copies of descriptors must outlive the call.
        withExtendedLifetime((argumentList, environmentList, plan)) {}
        if result < 0 { throw Errno(rawValue: -result) }
        return process
    }
}

/// What to do with each descriptor number of the child.
private final class DescriptorPlan {
    private(set) var actions: [clinux_descriptor] = []
    let closeFrom: Int32
    private var copies: [Int32] = []

    /// Sources are copied above all targets first, so that no target overwrites a source that is
    /// still needed (child 3 from 4 while child 4 comes from 3).
    init(_ descriptors: [Int32: ChildCommand.Stream]) throws(Errno) {
        if descriptors.keys.contains(where: { $0 < 0 }) { throw .badDescriptor }
        closeFrom = max(2, descriptors.keys.max() ?? 2) + 1
        for child in 0..<closeFrom {
            let parent: Int32 =
                switch descriptors[child] {
                case .null: -1
                case .inherited: -2
                case .descriptor(let number): try copy(number)
                case nil: -3
                }
            actions.append(clinux_descriptor(child: child, parent: parent))
        }
    }

    deinit {
        for number in copies { _ = clinux_close(number) }
    }

    private func copy(_ number: Int32) throws(Errno) -> Int32 {
        let copied = try syscall { clinux_duplicate(number, closeFrom) }
        copies.append(copied)
        return copied
    }
}
