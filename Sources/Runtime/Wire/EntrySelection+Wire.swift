import CMessages
import ImageModel
import Messages

extension EntrySelection: WireMessage {
    typealias Form = Imagebus__V1__EntrySelection
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__entry_selection__init }
    static var blank: Self { Self() }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.text(
            &cache, &wire.pointee.cache, if: &wire.pointee.maybe_cache_case, 1,
            "EntrySelection.cache", limit: RequestLimits.nameBytesMax)
        try map.text(
            &url, &wire.pointee.url, if: &wire.pointee.maybe_url_case, 2, "EntrySelection.url",
            limit: RequestLimits.urlBytesMax)
        try map.text(
            &prefix, &wire.pointee.prefix, if: &wire.pointee.maybe_prefix_case, 3,
            "EntrySelection.prefix", limit: RequestLimits.urlBytesMax)
        try map.number(
            &olderThanSeconds, &wire.pointee.older_than,
            if: &wire.pointee.maybe_older_than_case, 4, "EntrySelection.older_than")
        try map.text(
            &tag, &wire.pointee.tag, if: &wire.pointee.maybe_tag_case, 5, "EntrySelection.tag",
            limit: CacheTag.bytesMax)
        try map.caches(
            &furtherCaches, &wire.pointee.n_further_caches, &wire.pointee.further_caches,
            "EntrySelection.further_caches")
    }
}

extension FieldMap {
    /// Caches besides the first one of a composite cache, as stored texts call them.
    func caches(
        _ value: inout [String], _ count: inout Int,
        _ member: inout UnsafeMutablePointer<CText?>?, _ field: String
    ) throws(WireError) {
        try texts(
            &value, &count, &member, field, countMax: CompositeCache.countMax - 1,
            limit: RequestLimits.nameBytesMax)
    }
}

extension EntryCount: WireMessage {
    typealias Form = Imagebus__V1__EntryCount
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__entry_count__init }
    static var blank: Self { Self() }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.number(&entries, &wire.pointee.entries, "EntryCount.entries")
        try map.number(&bytes, &wire.pointee.bytes, "EntryCount.bytes")
    }
}

extension EntryDescription: WireMessage {
    typealias Form = Imagebus__V1__EntryDescription
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__entry_description__init }
    static var blank: Self {
        Self(
            key: "", tier: [], bytes: 0, format: .undefined, size: PixelSize(width: 0, height: 0))
    }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.text(
            &cache, &wire.pointee.cache, "EntryDescription.cache",
            limit: RequestLimits.nameBytesMax)
        try map.text(
            &key, &wire.pointee.key, "EntryDescription.key", limit: MessageLimits.keyBytesMax)
        try map.tiers(&tier, &wire.pointee.tier, "EntryDescription.tier")
        try map.number(&bytes, &wire.pointee.bytes, "EntryDescription.bytes")
        try map.word(&format, &wire.pointee.format, "EntryDescription.format")
        try map.number(&size.width, &wire.pointee.width, "EntryDescription.width")
        try map.number(&size.height, &wire.pointee.height, "EntryDescription.height")
        try map.number(&storedMilliseconds, &wire.pointee.stored, "EntryDescription.stored")
        try map.number(&accessedMilliseconds, &wire.pointee.accessed, "EntryDescription.accessed")
    }
}

extension EntryPage: WireMessage {
    typealias Form = Imagebus__V1__EntryPage
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__entry_page__init }
    static var blank: Self { Self() }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.list(
            &entries, &wire.pointee.n_entries, &wire.pointee.entries, "EntryPage.entries",
            limit: Self.entriesMax)
        try map.number(&next, &wire.pointee.next, "EntryPage.next")
        try map.part(
            &memory, unless: memory == EntryCount(), &wire.pointee.memory, "EntryPage.memory")
        try map.part(&disk, unless: disk == EntryCount(), &wire.pointee.disk, "EntryPage.disk")
        try map.number(&examined, &wire.pointee.examined, "EntryPage.examined")
        try map.number(&total, &wire.pointee.total, "EntryPage.total")
    }
}
