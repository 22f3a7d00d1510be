package import Messages

extension StatusReport {
    /// A counter; 0 where it is not there.
    package func count(_ counter: String) -> UInt64 {
        counters.first { $0.name == counter }?.value ?? 0
    }

    /// What was counted since an earlier look; all of it where the coordinator began anew since.
    package func growth(of counter: String, since earlier: StatusReport?) -> UInt64 {
        let now = count(counter)
        guard let earlier, earlier.uptimeMilliseconds <= uptimeMilliseconds else { return now }
        let before = earlier.count(counter)
        return now >= before ? now - before : now
    }
}
