import CMessages
import Model

extension JobOutcome: WireMessage {
    typealias Form = Imagebus__V1__Outcome
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__outcome__init }
    static var blank: Self { Self(id: JobID(0), attempt: 0, result: .miss, workMicroseconds: 0) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.counted(&id, &wire.pointee.id, "Outcome.id")
        try map.counted(&attempt, &wire.pointee.attempt, "Outcome.attempt")
        try map.number(
            &workMicroseconds, &wire.pointee.work_microseconds, "Outcome.work_microseconds")
        try mapResult(map, wire)
    }

    private mutating func mapResult(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        if try map.part(
            { if case .fetched(let body) = result { body } else { nil } },
            { result = .fetched($0) }, &wire.pointee.fetched,
            if: &wire.pointee.result_case, 8, "Outcome.fetched")
        {
            return
        }
        if try map.part(
            { if case .decoded(let image) = result { image } else { nil } },
            { result = .decoded($0) }, &wire.pointee.decoded,
            if: &wire.pointee.result_case, 12, "Outcome.decoded")
        {
            return
        }
        if try map.part(
            { if case .transformed(let image) = result { image } else { nil } },
            { result = .transformed($0) }, &wire.pointee.transformed,
            if: &wire.pointee.result_case, 13, "Outcome.transformed")
        {
            return
        }
        if try map.part(
            { if case .failed(let error) = result { error } else { nil } },
            { result = .failed($0) }, &wire.pointee.failed,
            if: &wire.pointee.result_case, 14, "Outcome.failed")
        {
            return
        }
        if try mapAnswer(map, wire) { return }
        throw .field("Outcome.result", .missing)
    }

    /// The answers of a cache.
    private mutating func mapAnswer(
        _ map: some FieldMap, _ wire: CPart<Form>
    ) throws(WireError) -> Bool {
        if try map.part(
            { if case .hit(let hit) = result { hit } else { nil } }, { result = .hit($0) },
            &wire.pointee.hit,
            if: &wire.pointee.result_case, 9, "Outcome.hit")
        {
            return true
        }
        if try map.unit(
            result == .miss, { result = .miss }, &wire.pointee.miss, if: &wire.pointee.result_case,
            10, "Outcome.miss")
        {
            return true
        }
        if try map.part(
            { if case .stored(let report) = result { report } else { nil } },
            { result = .stored($0) }, &wire.pointee.stored,
            if: &wire.pointee.result_case, 11, "Outcome.stored")
        {
            return true
        }
        if try map.part(
            { if case .entry(let tiers) = result { EntryReport(tiers: tiers) } else { nil } },
            { result = .entry($0.tiers) }, &wire.pointee.entry,
            if: &wire.pointee.result_case, 15, "Outcome.entry")
        {
            return true
        }
        if try map.part(
            { if case .entries(let page) = result { page } else { nil } },
            { result = .entries($0) }, &wire.pointee.entries,
            if: &wire.pointee.result_case, 16, "Outcome.entries")
        {
            return true
        }
        if try map.part(
            { if case .validity(let validity) = result { validity } else { nil } },
            { result = .validity($0) }, &wire.pointee.validity,
            if: &wire.pointee.result_case, 17, "Outcome.validity")
        {
            return true
        }
        return false
    }
}

extension DecodedImage: WireMessage {
    typealias Form = Imagebus__V1__DecodedImage
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__decoded_image__init }
    static var blank: Self { Self(info: .blank, frames: []) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.part(&info, &wire.pointee.info, "DecodedImage.info")
        try map.list(
            &frames, &wire.pointee.n_frames, &wire.pointee.frames, "DecodedImage.frames",
            limit: MessageLimits.blocksPerOutcomeMax)
        try map.maybe(&properties, &wire.pointee.facts, "DecodedImage.facts")
        try map.maybe(&file, &wire.pointee.file, "DecodedImage.file")
        map.flag(&isDamaged, &wire.pointee.is_damaged, "DecodedImage.is_damaged")
    }
}

extension DecodedImage.Frame: WireMessage {
    typealias Form = Imagebus__V1__Frame
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__frame__init }
    static var blank: Self { Self(reference: .blank, layout: .blank) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.part(&reference, &wire.pointee.reference, "Frame.reference")
        try map.part(&layout, &wire.pointee.layout, "Frame.layout")
        try layout.check(in: reference, "Frame.layout")
    }
}

extension EncodedImage: WireMessage {
    typealias Form = Imagebus__V1__EncodedImage
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__encoded_image__init }
    static var blank: Self { Self(reference: .blank, info: .blank) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.part(&reference, &wire.pointee.reference, "EncodedImage.reference")
        try map.part(&info, &wire.pointee.info, "EncodedImage.info")
        try map.part(
            &account, unless: account == TransformAccount(), &wire.pointee.account,
            "EncodedImage.account")
    }
}

extension CacheHit: WireMessage {
    typealias Form = Imagebus__V1__CacheHit
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__cache_hit__init }
    static var blank: Self { Self(reference: .blank, tier: [], metadata: .blank) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.part(&reference, &wire.pointee.reference, "CacheHit.reference")
        try map.tiers(&tier, &wire.pointee.tier, "CacheHit.tier")
        try map.part(&metadata, &wire.pointee.metadata, "CacheHit.metadata")
    }
}

extension StoreReport: WireMessage {
    typealias Form = Imagebus__V1__StoreReport
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__store_report__init }
    static var blank: Self { Self(delivered: nil, tiers: [], skipped: nil, isSame: false) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.maybe(&delivered, &wire.pointee.delivered, "StoreReport.delivered")
        try map.tiers(&tiers, &wire.pointee.tiers, "StoreReport.tiers")
        try map.text(
            &skipped, &wire.pointee.skipped, if: &wire.pointee.maybe_skipped_case, 3,
            "StoreReport.skipped", limit: MessageLimits.textBytesMax)
        map.flag(&isSame, &wire.pointee.is_same, "StoreReport.is_same")
        try map.digest(&digest, &wire.pointee.digest, "StoreReport.digest")
    }
}

/// The tiers that contained an entry.
struct EntryReport: WireMessage {
    var tiers: CacheTypes

    typealias Form = Imagebus__V1__EntryReport
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__entry_report__init }
    static var blank: Self { Self(tiers: []) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.tiers(&tiers, &wire.pointee.tiers, "EntryReport.tiers")
    }
}

extension FetchedBody: WireMessage {
    typealias Form = Imagebus__V1__FetchedBody
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__fetched_body__init }
    static var blank: Self { Self(reference: .blank, httpStatus: 0, effectiveURL: "") }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        let limit = MessageLimits.originHeaderBytesMax
        try map.part(&reference, &wire.pointee.reference, "FetchedBody.reference")
        try map.number(&httpStatus, &wire.pointee.http_status, "FetchedBody.http_status")
        try map.text(
            &contentType, &wire.pointee.content_type, if: &wire.pointee.maybe_content_type_case, 3,
            "FetchedBody.content_type", limit: limit)
        try map.text(
            &etag, &wire.pointee.etag, if: &wire.pointee.maybe_etag_case, 4, "FetchedBody.etag",
            limit: limit)
        try map.text(
            &lastModified, &wire.pointee.last_modified, if: &wire.pointee.maybe_last_modified_case,
            5, "FetchedBody.last_modified", limit: limit)
        try map.text(
            &cacheControl, &wire.pointee.cache_control, if: &wire.pointee.maybe_cache_control_case,
            6, "FetchedBody.cache_control", limit: limit)
        try map.text(
            &vary, &wire.pointee.vary, if: &wire.pointee.maybe_vary_case, 7, "FetchedBody.vary",
            limit: limit)
        try map.text(
            &effectiveURL, &wire.pointee.effective_url, "FetchedBody.effective_url",
            limit: RequestLimits.urlBytesMax)
        try map.word(
            &format, &wire.pointee.format, if: &wire.pointee.maybe_format_case, 9,
            "FetchedBody.format")
        try map.maybe(&account, &wire.pointee.account, "FetchedBody.account")
        try map.maybe(&age, &wire.pointee.age, "FetchedBody.age")
        try map.tags(
            &tags, &wire.pointee.n_tags, &wire.pointee.tags, "FetchedBody.tags",
            limit: CacheTag.countMax)
    }
}

extension BlockReference: WireMessage {
    typealias Form = Imagebus__V1__Reference
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__reference__init }
    static var blank: Self { Self(segment: 0, offset: 0, length: 0, block: BlockID(0)) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.maybe(&producer, &wire.pointee.producer, "Reference.producer")
        try map.word(&arena, &wire.pointee.arena, "Reference.arena")
        try map.number(&segment, &wire.pointee.segment, "Reference.segment")
        try map.number(&offset, &wire.pointee.offset, "Reference.offset")
        try map.number(&length, &wire.pointee.length, "Reference.length")
        try map.counted(&block, &wire.pointee.block, "Reference.block")
        guard !offset.addingReportingOverflow(length).overflow else {
            throw .field("Reference.length", .outOfRange)
        }
    }
}

extension BlockReference.Producer: WireMessage {
    typealias Form = Imagebus__V1__Producer
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__producer__init }
    static var blank: Self { Self(kind: .coordinator, incarnation: .blank, pool: usualPool) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.word(&kind, &wire.pointee.kind, "Producer.kind")
        try map.identifier(&incarnation, &wire.pointee.incarnation, "Producer.incarnation")
        try map.pool(&pool, of: kind, &wire.pointee.pool, "Producer.pool")
    }

    private static let usualPool = PoolName(.coordinator)
}

extension FieldMap {
    /// At most `idsMax` block IDs, all nonzero.
    func blocks(
        _ value: inout [BlockID], _ count: inout Int, _ member: inout UnsafeMutablePointer<UInt64>?,
        _ field: String
    ) throws(WireError) {
        var numbers = value.map(\.value)
        try self.numbers(&numbers, &count, &member, field, limit: MessageLimits.idsMax, least: 1)
        value = numbers.map { BlockID($0) }
    }

    /// An optional block ID; 0 if absent.
    func block(_ value: inout BlockID?, _ member: inout UInt64, _ field: String) throws(WireError) {
        var number = value?.value ?? 0
        try self.number(&number, &member, field)
        value = number == 0 ? nil : BlockID(number)
    }
}

struct ReleaseBlocks: WireMessage {
    var blocks: [BlockID]

    typealias Form = Imagebus__V1__Release
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__release__init }
    static var blank: Self { Self(blocks: []) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.blocks(&blocks, &wire.pointee.n_blocks, &wire.pointee.blocks, "Release.blocks")
    }
}

struct TouchedBlocks: WireMessage {
    var blocks: [BlockID]

    typealias Form = Imagebus__V1__Touched
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__touched__init }
    static var blank: Self { Self(blocks: []) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.blocks(&blocks, &wire.pointee.n_blocks, &wire.pointee.blocks, "Touched.blocks")
    }
}

struct EvictedBlocks: WireMessage {
    var blocks: [BlockID]

    typealias Form = Imagebus__V1__Evicted
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__evicted__init }
    static var blank: Self { Self(blocks: []) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.blocks(&blocks, &wire.pointee.n_blocks, &wire.pointee.blocks, "Evicted.blocks")
    }
}

extension SegmentAnnouncement: WireMessage {
    typealias Form = Imagebus__V1__Segments__Segment
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__segments__segment__init }
    static var blank: Self { Self(arena: .stage, number: 0, size: 0) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.word(&arena, &wire.pointee.arena, "Segment.arena")
        try map.number(&number, &wire.pointee.number, "Segment.number")
        try map.number(&size, &wire.pointee.size, "Segment.size")
    }
}

/// Segments that were opened or closed.
struct AnnouncedSegments: WireMessage {
    var segments: [SegmentAnnouncement]

    typealias Form = Imagebus__V1__Segments
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__segments__init }
    static var blank: Self { Self(segments: []) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.list(
            &segments, &wire.pointee.n_segments, &wire.pointee.segments, "Segments.segments",
            limit: MessageLimits.segmentsMax)
    }
}

extension PixelLayout: WireMessage {
    typealias Form = Imagebus__V1__PixelLayout
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__pixel_layout__init }
    static var blank: Self { Self(planes: [], orientation: .upright) }

    /// One plane, or three planes of one band. The total size must fit an `Int`, and the active
    /// area must cover the image except for a fraction of the last column and row.
    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.list(
            &planes, &wire.pointee.n_planes, &wire.pointee.planes, "PixelLayout.planes",
            limit: Self.planesMax)
        var orientation = self.orientation.exif
        try map.number(
            &orientation, within: 1...8, &wire.pointee.orientation, "PixelLayout.orientation")
        self.orientation = Orientation(exif: orientation)
        try map.list(
            &embeddedMetadata, &wire.pointee.n_enclosures, &wire.pointee.enclosures,
            "PixelLayout.enclosures", limit: EmbeddedMetadata.Kind.allCases.count)
        try map.number(
            &samples.bits, within: SampleForm.bitsRange, unless: 8, &wire.pointee.sample_bits,
            if: &wire.pointee.maybe_sample_bits_case, 4, "PixelLayout.sample_bits")
        try map.maybe(&samples.hdr, &wire.pointee.hdr, "PixelLayout.hdr")
        try map.maybe(&animation, &wire.pointee.animation, "PixelLayout.animation")
        try check()
    }

    /// Checks that the described layout lies within the referenced bytes.
    func check(in reference: BlockReference, _ field: String) throws(WireError) {
        guard let byteCount, UInt64(byteCount) <= reference.length else {
            throw .field(field, .outOfRange)
        }
    }

    private func check() throws(WireError) {
        for plane in planes { try plane.check(samples) }
        guard pixelByteCount != nil else { throw .field("PixelLayout.planes", .outOfRange) }
        guard byteCount != nil else { throw .field("PixelLayout.enclosures", .outOfRange) }
    }
}

extension PixelPlane: WireMessage {
    typealias Form = Imagebus__V1__PixelPlane
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__pixel_plane__init }
    static var blank: Self {
        Self(bands: .gray, offset: 0, size: .blank, stride: 0, activeWidth: 0, activeHeight: 0)
    }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.word(&bands, &wire.pointee.bands, "PixelPlane.bands")
        try map.number(&offset, &wire.pointee.offset, "PixelPlane.offset")
        try map.number(&size.width, &wire.pointee.width, "PixelPlane.width")
        try map.number(&size.height, &wire.pointee.height, "PixelPlane.height")
        try map.number(&stride, &wire.pointee.stride, "PixelPlane.stride")
        try map.finite(&activeWidth, &wire.pointee.active_width, "PixelPlane.active_width")
        try map.finite(&activeHeight, &wire.pointee.active_height, "PixelPlane.active_height")
    }

    /// Checks that rows contain their columns, and that everything except a fraction of the last
    /// column and row is image.
    func check(_ samples: SampleForm) throws(WireError) {
        guard byteCount(samples) != nil else { throw .field("PixelPlane.stride", .outOfRange) }
        guard isActive else { throw .field("PixelPlane.active", .outOfRange) }
    }
}

extension HDRColors: WireMessage {
    typealias Form = Imagebus__V1__HDRColours
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__hdrcolours__init }
    static var blank: Self { Self(primaries: .bt2020, transfer: .pq) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.word(&primaries, &wire.pointee.primaries, "HDRColours.primaries")
        try map.word(&transfer, &wire.pointee.transfer, "HDRColours.transfer")
    }
}

extension EmbeddedMetadata: WireMessage {
    typealias Form = Imagebus__V1__Enclosure
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__enclosure__init }
    static var blank: Self { Self(kind: .profile, offset: 0, length: 0) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.word(&kind, &wire.pointee.kind, "Enclosure.kind")
        try map.number(&offset, &wire.pointee.offset, "Enclosure.offset")
        try map.number(&length, &wire.pointee.length, "Enclosure.length")
    }
}
