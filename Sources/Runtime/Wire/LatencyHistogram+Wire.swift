import CMessages
import Messages

extension LatencyHistogram {
    /// None is an empty one: who counts nothing yet says nothing.
    init(
        _ wire: UnsafeMutablePointer<Imagebus__V1__StatusReport__Histogram>?, _ field: String
    ) throws(WireError) {
        guard let part = wire?.pointee else {
            self.init()
            return
        }
        guard part.n_buckets <= Self.lastBucket + 1 else {
            throw .field(field, .tooMany(limit: Self.lastBucket + 1))
        }
        guard part.n_counts == part.n_buckets else {
            throw .field("Histogram.counts", .outOfRange)
        }
        var counts: [Int: UInt64] = [:]
        if let buckets = part.buckets, let numbers = part.counts {
            for index in 0..<part.n_buckets {
                let bucket = Int(buckets[index])
                guard bucket <= Self.lastBucket, counts[bucket] == nil else {
                    throw .field("Histogram.buckets", .outOfRange)
                }
                counts[bucket] = numbers[index]
            }
        }
        self.init(counts: counts, sum: part.microseconds)
    }

    /// The buckets that count something; packed, so that all histograms of a report fit a frame.
    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__StatusReport__Histogram>
    {
        let wire = try write.make(imagebus__v1__status_report__histogram__init)
        let filled = counts.sorted { $0.key < $1.key }
        wire.pointee.n_buckets = filled.count
        wire.pointee.buckets = try write.array(filled.map { UInt32($0.key) })
        wire.pointee.n_counts = filled.count
        wire.pointee.counts = try write.array(filled.map(\.value))
        wire.pointee.microseconds = sum
        return wire
    }
}
