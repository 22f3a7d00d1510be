import CMessages
import Messages

extension LatencyHistogram: WireMessage {
    typealias Form = Imagebus__V1__StatusReport__Histogram
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__status_report__histogram__init }
    static var blank: Self { Self() }

    /// The buckets that count something; packed, so that all histograms of a report fit a frame.
    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        let limit = Self.lastBucket + 1
        var buckets = counts.keys.sorted().map { UInt32($0) }
        var numbers = buckets.map { counts[Int($0)] ?? 0 }
        var sum = self.sum
        try map.numbers(
            &buckets, &wire.pointee.n_buckets, &wire.pointee.buckets, map.container, limit: limit,
            least: 0)
        try map.numbers(
            &numbers, &wire.pointee.n_counts, &wire.pointee.counts, "Histogram.counts",
            limit: limit, least: 0)
        try map.number(&sum, &wire.pointee.microseconds, "Histogram.microseconds")
        self = LatencyHistogram(counts: try Self.counts(buckets, numbers), sum: sum)
    }

    private static func counts(_ buckets: [UInt32], _ numbers: [UInt64]) throws(WireError) -> [Int:
        UInt64]
    {
        guard numbers.count == buckets.count else {
            throw .field("Histogram.counts", .outOfRange)
        }
        var counts: [Int: UInt64] = [:]
        for (bucket, number) in zip(buckets, numbers) {
            let isNew = counts.updateValue(number, forKey: Int(bucket)) == nil
            guard bucket <= lastBucket, isNew else {
                throw .field("Histogram.buckets", .outOfRange)
            }
        }
        return counts
    }
}
