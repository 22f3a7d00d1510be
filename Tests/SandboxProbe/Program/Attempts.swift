import Linux
import SandboxAttempts

/// Operations that must be denied.
enum Attempts {
    /// Starts a child as a target for a compromised worker; it exits with this process.
    static func startVictim() throws(Errno) -> ProcessID {
        let victim = attempt_start_victim()
        if victim < 0 { throw Errno(rawValue: -victim) }
        return victim
    }

    /// Tries everything and prints one line each. Returns whether all was denied.
    static func areDenied(victim: ProcessID, _ places: ProbePlaces) -> Bool {
        let paths = [
            places.file(in: places.own), places.new(in: places.own), places.other(in: places.own),
            places.file(in: places.input), places.new(in: places.input),
            places.file(in: places.external), places.new(in: places.external),
            places.adminSecret,
        ].map(CStringCopy.init)
        var context = attempt_context(
            victim: victim, own_file: paths[0].pointer, own_new: paths[1].pointer,
            own_other: paths[2].pointer, input_file: paths[3].pointer, input_new: paths[4].pointer,
            foreign_file: paths[5].pointer, foreign_new: paths[6].pointer,
            admin_secret: paths[7].pointer)
        let all = UnsafeBufferPointer(start: attempts_first(), count: attempt_count)
        let results = all.map { isDenied($0, &context) }
        return withExtendedLifetime(paths) { results.allSatisfy { $0 } }
    }

    private static func isDenied(
        _ attempt: attempt, _ context: inout attempt_context
    ) -> Bool {
        let name = String(cString: attempt.name)
        let number = attempt.attempt(&context)
        let isDenied = denials.contains(number)
        // In a container, volumes of other kinds aren't mounted at all, and no listener has a
        // secret.
        let isAbsent = number == Errno.noSuchFile.rawValue && mayBeAbsent(name)
        let word = isDenied ? "denied" : isAbsent ? "absent" : "ALLOWED"
        print(name, word, number == 0 ? "" : Errno(rawValue: number).name)
        return isDenied || isAbsent
    }

    private static func mayBeAbsent(_ name: String) -> Bool {
        name.hasSuffix("-arena") || name == "read-admin-secret"
    }

    private static let denials: Set<Int32> = Set(
        [Errno.notPermitted, .accessDenied, .readOnlyFileSystem].map(\.rawValue))
}

/// A C string that is valid as long as this object lives.
private final class CStringCopy {
    let pointer: UnsafePointer<CChar>

    init(_ text: String) {
        let bytes = text.utf8CString
        let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
        for (index, byte) in bytes.enumerated() { copy[index] = byte }
        pointer = UnsafePointer(copy)
    }

    deinit { pointer.deallocate() }
}
