import Linux

/// How long children that show no sign of life waited for a processor, from look to look.
///
/// What this process waited itself counts with it: it may have kept a child's answer from being
/// seen. Where the kernel does not say it, nobody waited.
struct ProcessorWaits {
    private struct Reading {
        let process: ProcessID
        let turns: ProcessorTurns
    }

    private var readings: [Int: Reading] = [:]
    private var own: ProcessorTurns?

    /// Milliseconds since the last call that each of these children waited, by slot. 0 for one that
    /// was not among them then.
    mutating func look(at children: [Int: ProcessID]) -> [Int: Int] {
        let last = readings
        readings = children.compactMapValues { process in
            (try? ProcessorTurns(of: process)).map { Reading(process: process, turns: $0) }
        }
        let lastOwn = own
        own = children.isEmpty ? nil : try? ProcessorTurns(of: CurrentProcess.processID)
        guard let own, let lastOwn else { return [:] }
        let ownWait = own.waitedUntilItRan(since: lastOwn)
        return children.keys.reduce(into: [:]) { waits, slot in
            let wait = Self.wait(from: last[slot], to: readings[slot]) + ownWait
            waits[slot] = Int(min(wait, own.takenAt - lastOwn.takenAt) / 1_000_000)
        }
    }

    private static func wait(from earlier: Reading?, to now: Reading?) -> UInt64 {
        guard let earlier, let now, earlier.process == now.process else { return 0 }
        return now.turns.waited(since: earlier.turns)
    }
}
