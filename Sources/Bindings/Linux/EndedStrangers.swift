import CLinux

/// Children that this process never started: whoever is process 1 inherits what others leave
/// behind, and nobody else reaps it.
public enum EndedStrangers {
    /// Reaps those that have ended, at most `countMax`, and returns how many; never one of `own`,
    /// which its `ChildProcess` reaps.
    @discardableResult
    public static func reap(
        except own: Set<ProcessID>, countMax: Int = 256
    ) throws(Errno) -> Int {
        var count = 0
        while count < countMax {
            do throws(Errno) {
                let ended = try syscall { clinux_wait_peek() }
                // Others are found once it is reaped.
                guard ended > 0, !own.contains(ended) else { return count }
                var raw = clinux_exit()
                try syscall { clinux_wait(ended, false, &raw) }
                count += 1
            } catch .noChild {
                return count
            }
        }
        return count
    }
}
