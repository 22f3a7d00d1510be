import CMessages
import Messages

typealias WireBuckets = UnsafeMutablePointer<
    UnsafeMutablePointer<Imagebus__V1__StatusReport__Bucket>?
>

extension LatencyHistogram {
    init(_ count: Int, _ buckets: WireBuckets?, _ field: String, _ read: FieldReader)
        throws(WireError)
    {
        var counts: [Int: UInt64] = [:]
        _ = try read.list(count, buckets, field, limit: Self.lastBucket + 1) {
            part throws(WireError) in
            guard part.number <= Self.lastBucket else {
                throw .field("Bucket.number", .outOfRange)
            }
            counts[Int(part.number)] = part.count
        }
        self.init(counts: counts)
    }

    /// The buckets that count something, and how many they are.
    func wire(_ field: String, _ write: FieldWriter) throws(WireError)
        -> (count: Int, buckets: WireBuckets)
    {
        let filled = counts.sorted { $0.key < $1.key }
        let buckets = try write.list(filled, field, limit: Self.lastBucket + 1) {
            bucket throws(WireError) in
            let wire = try write.make(imagebus__v1__status_report__bucket__init)
            wire.pointee.number = UInt32(bucket.key)
            wire.pointee.count = bucket.value
            return wire
        }
        return (filled.count, buckets)
    }
}
