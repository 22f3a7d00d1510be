import CMessages
import Messages

extension StageTimings {
    /// Absent means that no time went anywhere.
    init(_ wire: UnsafeMutablePointer<Imagebus__V1__Timings>?, _ read: FieldReader)
        throws(WireError)
    {
        self.init()
        guard let part = wire?.pointee else { return }
        queue = try read.finite(part.queue, "Timings.queue")
        query = try read.finite(part.query, "Timings.query")
        fetch = try read.finite(part.fetch, "Timings.fetch")
        decode = try read.finite(part.decode, "Timings.decode")
        transform = try read.finite(part.transform, "Timings.transform")
        store = try read.finite(part.store, "Timings.store")
        total = try read.finite(part.total, "Timings.total")
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__Timings>
    {
        let wire = try write.make(imagebus__v1__timings__init)
        wire.pointee.queue = try write.finite(queue, "Timings.queue")
        wire.pointee.query = try write.finite(query, "Timings.query")
        wire.pointee.fetch = try write.finite(fetch, "Timings.fetch")
        wire.pointee.decode = try write.finite(decode, "Timings.decode")
        wire.pointee.transform = try write.finite(transform, "Timings.transform")
        wire.pointee.store = try write.finite(store, "Timings.store")
        wire.pointee.total = try write.finite(total, "Timings.total")
        return wire
    }
}
