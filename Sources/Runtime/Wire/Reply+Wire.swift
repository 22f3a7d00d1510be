import CMessages
import ImageModel
import Messages

extension Reply {
    init(_ wire: Imagebus__V1__Reply, _ read: FieldReader) throws(WireError) {
        self.init(
            token: Token(try read.identifier(wire.token, "Reply.token")),
            outcome: try Outcome(wire, read), timings: try StageTimings(wire.timings, read),
            isRefreshing: wire.is_refreshing != 0)
    }

    func wire(_ write: FieldWriter) throws(WireError) -> UnsafeMutablePointer<Imagebus__V1__Reply> {
        let wire = try write.make(imagebus__v1__reply__init)
        wire.pointee.token = try write.bytes(token.value)
        wire.pointee.timings = try timings.wire(write)
        wire.pointee.is_refreshing = isRefreshing ? 1 : 0
        switch outcome {
        case .image(let image):
            wire.pointee.outcome_case = IMAGEBUS__V1__REPLY__OUTCOME_IMAGE
            wire.pointee.image = try image.wire(write)
        case .miss(let key):
            wire.pointee.outcome_case = IMAGEBUS__V1__REPLY__OUTCOME_MISS
            wire.pointee.miss = try write.text(key, "Reply.miss", limit: MessageLimits.keyBytesMax)
        case .failure(let error):
            wire.pointee.outcome_case = IMAGEBUS__V1__REPLY__OUTCOME_FAILURE
            wire.pointee.failure = try error.wire(write)
        case .notModified:
            wire.pointee.outcome_case = IMAGEBUS__V1__REPLY__OUTCOME_NOT_MODIFIED
            wire.pointee.not_modified = try write.make(imagebus__v1__unit__init)
        }
        return wire
    }
}

extension Reply.Outcome {
    fileprivate init(_ wire: Imagebus__V1__Reply, _ read: FieldReader) throws(WireError) {
        switch wire.outcome_case {
        case IMAGEBUS__V1__REPLY__OUTCOME_IMAGE:
            self = .image(try DeliveredImage(try read.required(wire.image, "Reply.image"), read))
        case IMAGEBUS__V1__REPLY__OUTCOME_MISS:
            self = .miss(
                key: try read.text(wire.miss, "Reply.miss", limit: MessageLimits.keyBytesMax))
        case IMAGEBUS__V1__REPLY__OUTCOME_FAILURE:
            self = .failure(try ImageError(try read.required(wire.failure, "Reply.failure"), read))
        case IMAGEBUS__V1__REPLY__OUTCOME_NOT_MODIFIED: self = .notModified
        default: throw .field("Reply.outcome", .missing)
        }
    }
}

extension DeliveredImage {
    init(_ wire: Imagebus__V1__DeliveredImage, _ read: FieldReader) throws(WireError) {
        self.init(
            reference: try wire.reference.map { part throws(WireError) in
                try BlockReference(part.pointee, read)
            },
            info: try ImageInfo(try read.required(wire.info, "DeliveredImage.info"), read),
            cacheType: try CacheTypes(wire.cache_type, "DeliveredImage.cache_type"),
            key: try read.text(wire.key, "DeliveredImage.key", limit: MessageLimits.keyBytesMax),
            storedTiers: wire.maybe_stored_tiers_case.rawValue == 0
                ? nil : try CacheTypes(wire.stored_tiers, "DeliveredImage.stored_tiers"),
            mustCopy: wire.must_copy != 0,
            pieceBytes: wire.maybe_piece_bytes_case.rawValue == 0 ? nil : wire.piece_bytes,
            scaleFactor: wire.maybe_scale_factor_case.rawValue == 0
                ? 1 : try read.finite(wire.scale_factor, "DeliveredImage.scale_factor"),
            fallbackFor: try wire.fallback_for.map { part throws(WireError) in
                try ImageError(part.pointee, read)
            })
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__DeliveredImage>
    {
        let wire = try write.make(imagebus__v1__delivered_image__init)
        if let reference { wire.pointee.reference = try reference.wire(write) }
        wire.pointee.info = try info.wire(write)
        wire.pointee.cache_type = UInt32(cacheType.rawValue)
        wire.pointee.key = try write.text(
            key, "DeliveredImage.key", limit: MessageLimits.keyBytesMax)
        if let storedTiers {
            wire.pointee.maybe_stored_tiers_case =
                IMAGEBUS__V1__DELIVERED_IMAGE__MAYBE_STORED_TIERS_STORED_TIERS
            wire.pointee.stored_tiers = UInt32(storedTiers.rawValue)
        }
        wire.pointee.must_copy = mustCopy ? 1 : 0
        if let pieceBytes {
            wire.pointee.maybe_piece_bytes_case =
                IMAGEBUS__V1__DELIVERED_IMAGE__MAYBE_PIECE_BYTES_PIECE_BYTES
            wire.pointee.piece_bytes = pieceBytes
        }
        if scaleFactor != 1 {
            wire.pointee.maybe_scale_factor_case =
                IMAGEBUS__V1__DELIVERED_IMAGE__MAYBE_SCALE_FACTOR_SCALE_FACTOR
            wire.pointee.scale_factor = try write.finite(
                scaleFactor, "DeliveredImage.scale_factor")
        }
        if let fallbackFor { wire.pointee.fallback_for = try fallbackFor.wire(write) }
        return wire
    }
}
