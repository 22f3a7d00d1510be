import CMessages
import ImageModel
import Messages

extension CacheHit {
    init(_ wire: Imagebus__V1__CacheHit, _ read: FieldReader) throws(WireError) {
        self.init(
            reference: try BlockReference(
                try read.required(wire.reference, "CacheHit.reference"), read),
            tier: try CacheTypes(wire.tier, "CacheHit.tier"),
            metadata: try StoredMetadata(
                try read.required(wire.metadata, "CacheHit.metadata"), read))
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__CacheHit>
    {
        let wire = try write.make(imagebus__v1__cache_hit__init)
        wire.pointee.reference = try reference.wire(write)
        wire.pointee.tier = UInt32(tier.rawValue)
        wire.pointee.metadata = try metadata.wire(write)
        return wire
    }
}

extension StoreReport {
    init(_ wire: Imagebus__V1__StoreReport, _ read: FieldReader) throws(WireError) {
        self.init(
            delivered: try wire.delivered.map { part throws(WireError) in
                try BlockReference(part.pointee, read)
            },
            tiers: try CacheTypes(wire.tiers, "StoreReport.tiers"),
            skipped: try read.text(
                wire.skipped, present: wire.maybe_skipped_case.rawValue != 0,
                "StoreReport.skipped", limit: MessageLimits.textBytesMax),
            isSame: wire.is_same != 0)
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__StoreReport>
    {
        let wire = try write.make(imagebus__v1__store_report__init)
        if let delivered { wire.pointee.delivered = try delivered.wire(write) }
        wire.pointee.tiers = UInt32(tiers.rawValue)
        wire.pointee.is_same = isSame ? 1 : 0
        if let skipped {
            wire.pointee.maybe_skipped_case = IMAGEBUS__V1__STORE_REPORT__MAYBE_SKIPPED_SKIPPED
            wire.pointee.skipped = try write.text(
                skipped, "StoreReport.skipped", limit: MessageLimits.textBytesMax)
        }
        return wire
    }
}
