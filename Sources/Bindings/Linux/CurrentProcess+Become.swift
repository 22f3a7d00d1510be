import Glibc

extension CurrentProcess {
    /// Goes on as another program with the same environment (execv). Returns only where that
    /// fails, and says why.
    public static func become(_ executable: String, _ arguments: [String]) -> Errno {
        do throws(Errno) {
            let list = try CStringList([executable] + arguments)
            execv(executable, list.pointers)
            let error = Errno(rawValue: errno)
            withExtendedLifetime(list) {}
            return error
        } catch {
            return error
        }
    }
}
