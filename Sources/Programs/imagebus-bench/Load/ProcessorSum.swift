/// Processor time of several processes over several turns of work.
struct ProcessorSum {
    private var microseconds: [Double?] = []
    private var count = 0

    /// So many pieces of work were done since the meter began.
    mutating func add(_ meter: ProcessorMeter, of count: Int) {
        let used = meter.microseconds
        microseconds =
            microseconds.isEmpty
            ? used
            : zip(microseconds, used).map { sum, more in more.flatMap { m in sum.map { $0 + m } } }
        self.count += count
    }

    /// Microseconds of the process at `place` for each piece; nil where they could not be read.
    func each(_ place: Int) -> Double? {
        guard count > 0, microseconds.indices.contains(place) else { return nil }
        return microseconds[place].map { $0 / Double(count) }
    }
}
