import CMessages
public import Model

extension ImageInfo: WireMessage {
    typealias Form = Imagebus__V1__ImageInfo
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__image_info__init }
    static var blank: Self { Self(format: .undefined, size: .blank) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.word(&format, &wire.pointee.format, "ImageInfo.format")
        try map.number(&size.width, &wire.pointee.width, "ImageInfo.width")
        try map.number(&size.height, &wire.pointee.height, "ImageInfo.height")
        try map.counted(&pages, &wire.pointee.pages, "ImageInfo.pages")
        map.flag(&hasAlpha, &wire.pointee.has_alpha, "ImageInfo.has_alpha")
        try map.number(
            &stillOf, within: 2...Int(UInt32.max), &wire.pointee.still_of,
            if: &wire.pointee.maybe_still_of_case, 6, "ImageInfo.still_of")
        try map.number(
            &bits, within: Self.bitsRange, unless: 8, &wire.pointee.bits,
            if: &wire.pointee.maybe_bits_case, 7, "ImageInfo.bits")
        map.flag(&isHDR, &wire.pointee.is_hdr, "ImageInfo.is_hdr")
    }
}

extension RequestedProperties: WireMessage {
    typealias Form = Imagebus__V1__WantedFacts
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__wanted_facts__init }
    static var blank: Self { Self() }

    /// Unknown kinds are rejected at admission.
    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.bits(&kinds, &wire.pointee.kinds, "WantedFacts.kinds")
        try map.number(
            &blurHash.width, within: Self.blurHashSides, unless: Self.usualBlurHash.width,
            &wire.pointee.blur_hash_columns, if: &wire.pointee.maybe_blur_hash_columns_case, 2,
            "WantedFacts.blur_hash_columns")
        try map.number(
            &blurHash.height, within: Self.blurHashSides, unless: Self.usualBlurHash.height,
            &wire.pointee.blur_hash_rows, if: &wire.pointee.maybe_blur_hash_rows_case, 3,
            "WantedFacts.blur_hash_rows")
    }
}

extension ImageProperties: WireMessage {
    typealias Form = Imagebus__V1__ImageFacts
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__image_facts__init }
    static var blank: Self { Self() }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.number(
            &orientation, within: 1...8, &wire.pointee.orientation,
            if: &wire.pointee.maybe_orientation_case, 1, "ImageFacts.orientation")
        try map.number(
            &bitsPerSample, within: 1...64, &wire.pointee.bits_per_sample,
            if: &wire.pointee.maybe_bits_per_sample_case, 2, "ImageFacts.bits_per_sample")
        try map.name(&profile, &wire.pointee.profile, "ImageFacts.profile")
        try map.exif(&exif, &wire.pointee.n_exif, &wire.pointee.exif)
        try map.color(
            &average, &wire.pointee.average, if: &wire.pointee.maybe_average_case, 5,
            "ImageFacts.average")
        try map.color(
            &dominant, &wire.pointee.dominant, if: &wire.pointee.maybe_dominant_case, 6,
            "ImageFacts.dominant")
        var hash = blurHash ?? ""
        try map.text(
            &hash, &wire.pointee.blur_hash, "ImageFacts.blur_hash", limit: Self.blurHashBytesMax)
        blurHash = hash.isEmpty ? nil : hash
        try map.name(&thumbHash, &wire.pointee.thumb_hash, "ImageFacts.thumb_hash")
        try map.maybe(&animation, &wire.pointee.animation, "ImageFacts.animation")
    }
}

extension AnimationProperties: WireMessage {
    typealias Form = Imagebus__V1__AnimationFacts
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__animation_facts__init }
    static var blank: Self { Self(durations: [], loops: 0) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        var played = plays == loops ? nil : Optional(plays)
        try map.numbers(
            &durations, &wire.pointee.n_durations, &wire.pointee.durations,
            "AnimationFacts.durations", limit: Self.framesMax, least: 1)
        try map.number(&loops, &wire.pointee.loops, "AnimationFacts.loops")
        try map.number(
            &played, &wire.pointee.plays, if: &wire.pointee.maybe_plays_case, 3,
            "AnimationFacts.plays")
        plays = played ?? loops
    }
}

extension FieldMap {
    /// EXIF fields that this version knows, each at most once.
    fileprivate func exif(
        _ value: inout [ExifField: String], _ count: inout Int,
        _ member: inout CList<Imagebus__V1__Detail>?
    ) throws(WireError) {
        let field = "ImageFacts.exif"
        var texts = Dictionary(uniqueKeysWithValues: value.map { ($0.key.rawValue, $0.value) })
        try details(
            &texts, ExifLimits.self, &count, &member, field, limit: ExifField.allCases.count)
        value = [:]
        for (name, text) in texts {
            guard let known = ExifField(rawValue: name) else { throw .field(field, .unknownValue) }
            value[known] = text
        }
    }

    fileprivate func color(
        _ value: inout Color?, _ member: inout UInt32,
        if which: inout some RawRepresentable<UInt32>, _ number: UInt32, _ field: String
    ) throws(WireError) {
        var argb = value?.argb
        try self.number(&argb, &member, if: &which, number, field)
        value = argb.map { Color(argb: $0) }
    }
}

enum ExifLimits: DetailLimits {
    static var nameMax: Int { RequestLimits.nameBytesMax }
    static func valueMax(beside name: String) -> Int { ExifField.valueBytesMax }
}

extension StoredMetadata: WireMessage {
    typealias Form = Imagebus__V1__Metadata
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__metadata__init }
    static var blank: Self {
        var blank = Self(info: .blank)
        blank.revision = 0
        return blank
    }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        let limit = MessageLimits.originHeaderBytesMax
        try map.part(&info, &wire.pointee.info, "Metadata.info")
        try map.text(
            &contentType, &wire.pointee.content_type, if: &wire.pointee.maybe_content_type_case, 2,
            "Metadata.content_type", limit: limit)
        try map.text(
            &etag, &wire.pointee.etag, if: &wire.pointee.maybe_etag_case, 3, "Metadata.etag",
            limit: limit)
        try map.text(
            &lastModified, &wire.pointee.last_modified, if: &wire.pointee.maybe_last_modified_case,
            4, "Metadata.last_modified", limit: limit)
        try map.text(
            &vary, &wire.pointee.vary, if: &wire.pointee.maybe_vary_case, 6, "Metadata.vary",
            limit: limit)
        try map.maybe(&caching, &wire.pointee.caching, "Metadata.caching")
        try map.tags(
            &tags, &wire.pointee.n_tags, &wire.pointee.tags, "Metadata.tags",
            limit: CacheTag.entryMax)
        try map.maybe(&extendedData, &wire.pointee.extended_data, "Metadata.extended_data")
        try map.digest(&digest, &wire.pointee.digest, "Metadata.digest")
        try map.number(
            &revision, within: PipelineRevision.range, &wire.pointee.revision,
            "Metadata.revision")
    }
}

/// The standalone message `Metadata`, for storage outside of the stack.
extension StoredMetadata {
    /// Packs the message. Throws `field` for a value beyond the limits of messages.
    public func packed() throws(WireError) -> [UInt8] {
        let slab = Slab()
        var value = self
        // Every generated message begins with its base.
        let message = UnsafeMutableRawPointer(
            try FieldWriter.build(&value, in: slab.region, "")
        ).assumingMemoryBound(to: ProtobufCMessage.self)
        let size = protobuf_c_message_get_packed_size(message)
        return [UInt8](unsafeUninitializedCapacity: size) { bytes, count in
            if size > 0 { protobuf_c_message_pack(message, bytes.baseAddress) }
            count = size
        }
    }

    /// Unpacks a message. Throws for anything that is not a valid message, since the bytes may come
    /// from elsewhere.
    public init(packed bytes: RawSpan) throws(WireError) {
        var decoder = MessageDecoder()
        self = try decoder.decode(
            bytes, limit: MessageLimits.backFrameBytesMax, imagebus__v1__metadata__unpack)
    }
}

extension HTTPExpiry: WireMessage {
    typealias Form = Imagebus__V1__Expiry
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__expiry__init }
    static var blank: Self { Self(born: 0) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.number(&born, within: Self.bornRange, &wire.pointee.born, "Expiry.born")
        try map.number(
            &freshFor, within: Self.timeRange, &wire.pointee.fresh_for, "Expiry.fresh_for")
        try map.number(
            &staleFor, within: Self.timeRange, &wire.pointee.stale_for, "Expiry.stale_for")
        try map.number(
            &errorFor, within: Self.timeRange, &wire.pointee.error_for, "Expiry.error_for")
    }
}

extension ResponseAge: WireMessage {
    typealias Form = Imagebus__V1__ResponseAge
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__response_age__init }
    static var blank: Self { Self(bornMilliseconds: 0) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.number(
            &bornMilliseconds, within: HTTPExpiry.bornRange, &wire.pointee.born,
            "ResponseAge.born")
        try map.number(
            &expiresInSeconds, within: 0...DeltaSeconds.most, &wire.pointee.expires_in,
            if: &wire.pointee.maybe_expires_in_case, 2, "ResponseAge.expires_in")
    }
}

extension OriginCaching: WireMessage {
    typealias Form = Imagebus__V1__OriginCaching
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__origin_caching__init }
    static var blank: Self { Self(CacheControl(nil), .blank) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.part(&age, &wire.pointee.age, "OriginCaching.age")
        var field = cacheControl.field
        try map.text(
            &field, &wire.pointee.cache_control, if: &wire.pointee.maybe_cache_control_case, 2,
            "OriginCaching.cache_control", limit: MessageLimits.originHeaderBytesMax)
        cacheControl = CacheControl(field)
        map.flag(
            &variesOnEverything, &wire.pointee.varies_on_everything,
            "OriginCaching.varies_on_everything")
    }
}

extension Validity: WireMessage {
    typealias Form = Imagebus__V1__Validity
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__validity__init }
    static var blank: Self { Self() }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        let limit = MessageLimits.originHeaderBytesMax
        try map.maybe(&expiry, &wire.pointee.expiry, "Validity.expiry")
        try map.text(
            &etag, &wire.pointee.etag, if: &wire.pointee.maybe_etag_case, 2, "Validity.etag",
            limit: limit)
        try map.text(
            &lastModified, &wire.pointee.last_modified, if: &wire.pointee.maybe_last_modified_case,
            3, "Validity.last_modified", limit: limit)
        try map.maybe(&caching, &wire.pointee.caching, "Validity.caching")
        try map.maybe(&originFailure, &wire.pointee.origin_failure, "Validity.origin_failure")
    }
}

// The attributes of a cache entry besides its bytes.

extension FieldMap {
    /// At most `limit` tags.
    func tags(
        _ value: inout [String], _ count: inout Int,
        _ member: inout UnsafeMutablePointer<CText?>?, _ field: String, limit: Int
    ) throws(WireError) {
        try texts(
            &value, &count, &member, field, countMax: limit, limit: CacheTag.bytesMax)
        guard value.allSatisfy({ CacheTag.isTag($0) }) else { throw .field(field, .outOfRange) }
    }

    /// An optional digest of exactly 32 bytes.
    func digest(
        _ value: inout ContentDigest?, _ member: inout ProtobufCBinaryData, _ field: String
    ) throws(WireError) {
        guard has(value != nil, &member) else { return }
        var bytes = value?.bytes ?? []
        try data(&bytes, &member, field, limit: ContentDigest.byteCount)
        guard let digest = ContentDigest(bytes) else { throw .field(field, .outOfRange) }
        value = digest
    }
}

extension ExtendedData: WireMessage {
    typealias Form = Imagebus__V1__ExtendedData
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__extended_data__init }
    static var blank: Self { Self([], mediaType: "") }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.text(
            &mediaType, &wire.pointee.media_type, "ExtendedData.media_type",
            limit: Self.mediaTypeBytesMax)
        try map.data(&bytes, &wire.pointee.data, "ExtendedData.data", limit: Self.bytesMax)
    }
}
