import CMessages
import Model

extension CacheCommand: WireMessage {
    typealias Form = Imagebus__V1__CacheCommand
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__cache_command__init }
    static var blank: Self { Self(number: 0, action: .contains, cache: nil, key: "", tiers: .all) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.number(&number, &wire.pointee.number, "CacheCommand.number")
        try map.word(&action, &wire.pointee.action, "CacheCommand.action")
        try map.name(&cache, &wire.pointee.cache, "CacheCommand.cache")
        try map.text(&key, &wire.pointee.key, "CacheCommand.key", limit: MessageLimits.keyBytesMax)
        var tiers: CacheTypes? = self.tiers
        try map.tiers(
            &tiers, &wire.pointee.tiers, if: &wire.pointee.maybe_tiers_case, 5, "CacheCommand.tiers"
        )
        self.tiers = tiers ?? .all
        try map.part(
            &selection, unless: selection.isAll, &wire.pointee.selection,
            "CacheCommand.selection")
        try map.number(&after, &wire.pointee.after, "CacheCommand.after")
        try map.number(
            &limit, within: 0...UInt32(EntryPage.entriesMax), &wire.pointee.limit,
            "CacheCommand.limit")
        map.flag(&wantsProgress, &wire.pointee.wants_progress, "CacheCommand.wants_progress")
    }
}

extension CacheReport: WireMessage {
    typealias Form = Imagebus__V1__CacheReport
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__cache_report__init }
    static var blank: Self { Self(number: 0, outcome: .tiers([])) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.number(&number, &wire.pointee.number, "CacheReport.number")
        if try map.tiers(
            { if case .tiers(let tiers) = outcome { tiers } else { nil } },
            { outcome = .tiers($0) }, &wire.pointee.tiers,
            if: &wire.pointee.outcome_case, 2, "CacheReport.tiers")
        {
            return
        }
        if try map.part(
            { if case .failure(let error) = outcome { error } else { nil } },
            { outcome = .failure($0) }, &wire.pointee.failure,
            if: &wire.pointee.outcome_case, 3, "CacheReport.failure")
        {
            return
        }
        if try map.part(
            { if case .page(let page) = outcome { page } else { nil } },
            { outcome = .page($0) }, &wire.pointee.page,
            if: &wire.pointee.outcome_case, 4, "CacheReport.page")
        {
            return
        }
        if try map.part(
            { if case .progress(let page) = outcome { page } else { nil } },
            { outcome = .progress($0) }, &wire.pointee.progress,
            if: &wire.pointee.outcome_case, 5, "CacheReport.progress")
        {
            return
        }
        throw .field("CacheReport.outcome", .missing)
    }
}

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
    /// The further caches of a composite cache, in their stored form.
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

/// The configured settings of the caches.
struct CacheSettingsMessage: WireMessage {
    var caches: [NamedCacheSettings]

    typealias Form = Imagebus__V1__CacheSettings
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__cache_settings__init }
    static var blank: Self { Self(caches: []) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.list(
            &caches, &wire.pointee.n_caches, &wire.pointee.caches, "CacheSettings.caches",
            limit: NamedCacheSettings.countMax)
    }
}

extension NamedCacheSettings: WireMessage {
    typealias Form = Imagebus__V1__CacheSettings__Cache
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__cache_settings__cache__init }
    static var blank: Self { Self(name: "", settings: CacheSettings()) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.text(
            &name, &wire.pointee.name, "Cache.name", limit: RequestLimits.nameBytesMax)
        var texts: [String: String] = [:]
        for entry in settings.explicitSettings {
            texts[entry.setting.rawValue] = entry.setting.text(of: entry.value)
        }
        try map.details(
            &texts, ParameterLimits.self, &wire.pointee.n_settings, &wire.pointee.settings,
            "Cache.settings", limit: RequestLimits.parametersMax)
        guard let settings = CacheSettings(texts: texts) else {
            throw .field("Cache.settings", .unknownValue)
        }
        self.settings = settings
        try map.texts(
            &readOnly, &wire.pointee.n_read_only, &wire.pointee.read_only, "Cache.read_only",
            countMax: ReadOnlyDirectory.countMax, limit: FileRoot.bytesMax)
    }
}

extension CacheSettings {
    /// Parses settings by name; `nil` if one is unknown or has an invalid value.
    fileprivate init?(texts: [String: String]) {
        self.init()
        for (name, text) in texts {
            guard let setting = CacheSetting(rawValue: name), let value = setting.value(of: text)
            else { return nil }
            self[setting] = value
        }
    }
}

extension CacheStatus: WireMessage {
    typealias Form = Imagebus__V1__CacheStatus
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__cache_status__init }
    static var blank: Self { Self() }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.number(&memoryEntries, &wire.pointee.memory_entries, "CacheStatus.memory_entries")
        try map.number(&memoryBytes, &wire.pointee.memory_bytes, "CacheStatus.memory_bytes")
        try map.word(&disk, &wire.pointee.disk, "CacheStatus.disk")
        try map.text(
            &diskReason, &wire.pointee.disk_reason, "CacheStatus.disk_reason",
            limit: MessageLimits.textBytesMax)
        try map.number(&diskEntries, &wire.pointee.disk_entries, "CacheStatus.disk_entries")
        try map.number(&diskBytes, &wire.pointee.disk_bytes, "CacheStatus.disk_bytes")
        try map.number(
            &diskOverheadBytes, &wire.pointee.disk_overhead_bytes, "CacheStatus.disk_overhead_bytes"
        )
        try map.number(&diskBytesMax, &wire.pointee.disk_bytes_max, "CacheStatus.disk_bytes_max")
        try map.number(&entriesLost, &wire.pointee.entries_lost, "CacheStatus.entries_lost")
        try map.number(
            &indexesSetAside, &wire.pointee.indexes_set_aside, "CacheStatus.indexes_set_aside")
        try map.number(&storesSkipped, &wire.pointee.stores_skipped, "CacheStatus.stores_skipped")
        try map.number(
            &memoryBytesMax, &wire.pointee.memory_bytes_max, "CacheStatus.memory_bytes_max")
        try map.number(
            &memoryEntriesMax, &wire.pointee.memory_entries_max, "CacheStatus.memory_entries_max")
        try map.number(
            &diskEntriesMax, &wire.pointee.disk_entries_max, "CacheStatus.disk_entries_max")
        try map.number(&degradedSince, &wire.pointee.degraded_since, "CacheStatus.degraded_since")
        try map.number(&memoryHits, &wire.pointee.memory_hits, "CacheStatus.memory_hits")
        try map.number(&diskHits, &wire.pointee.disk_hits, "CacheStatus.disk_hits")
        try map.number(&misses, &wire.pointee.misses, "CacheStatus.misses")
        try map.number(
            &diskBytesWritten, &wire.pointee.disk_bytes_written, "CacheStatus.disk_bytes_written")
        try map.number(&diskTrims, &wire.pointee.disk_trims, "CacheStatus.disk_trims")
        try map.number(
            &diskEntriesTrimmed, &wire.pointee.disk_entries_trimmed,
            "CacheStatus.disk_entries_trimmed")
        try map.number(
            &diskEntriesExpired, &wire.pointee.disk_entries_expired,
            "CacheStatus.disk_entries_expired")
        try map.number(
            &memoryEvictions, &wire.pointee.memory_evictions, "CacheStatus.memory_evictions")
        try map.number(&memoryShrinks, &wire.pointee.memory_shrinks, "CacheStatus.memory_shrinks")
        try map.number(&diskFailures, &wire.pointee.disk_failures, "CacheStatus.disk_failures")
        try map.list(
            &caches, &wire.pointee.n_caches, &wire.pointee.caches, "CacheStatus.caches",
            limit: NamedCacheStatus.countMax)
        try map.number(
            &indexUpgradedFrom, &wire.pointee.index_upgraded_from,
            "CacheStatus.index_upgraded_from")
        try map.text(
            &indexReason, &wire.pointee.index_reason, "CacheStatus.index_reason",
            limit: MessageLimits.textBytesMax)
        try map.list(
            &readOnly, &wire.pointee.n_read_only, &wire.pointee.read_only, "CacheStatus.read_only",
            limit: ReadOnlyDirectory.totalMax)
    }
}

extension ReadOnlyDirectory: WireMessage {
    typealias Form = Imagebus__V1__ReadOnlyDirectory
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__read_only_directory__init }
    static var blank: Self { Self(cache: "", path: "") }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.text(
            &cache, &wire.pointee.cache, "ReadOnlyDirectory.cache",
            limit: RequestLimits.nameBytesMax)
        try map.text(
            &path, &wire.pointee.path, "ReadOnlyDirectory.path", limit: FileRoot.bytesMax)
        try map.text(
            &reason, &wire.pointee.reason, "ReadOnlyDirectory.reason",
            limit: MessageLimits.textBytesMax)
        try map.number(&hits, &wire.pointee.hits, "ReadOnlyDirectory.hits")
        try map.number(&damaged, &wire.pointee.damaged, "ReadOnlyDirectory.damaged")
    }
}

extension NamedCacheStatus: WireMessage {
    typealias Form = Imagebus__V1__NamedCacheStatus
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__named_cache_status__init }
    static var blank: Self { Self(name: "") }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.text(
            &name, &wire.pointee.name, "NamedCacheStatus.name", limit: RequestLimits.nameBytesMax)
        try map.part(&memory, &wire.pointee.memory, "NamedCacheStatus.memory")
        try map.part(&disk, &wire.pointee.disk, "NamedCacheStatus.disk")
        try map.number(
            &memoryHits, &wire.pointee.memory_hits, "NamedCacheStatus.memory_hits")
        try map.number(&diskHits, &wire.pointee.disk_hits, "NamedCacheStatus.disk_hits")
        try map.number(&misses, &wire.pointee.misses, "NamedCacheStatus.misses")
        try map.number(
            &memoryEvictions, &wire.pointee.memory_evictions, "NamedCacheStatus.memory_evictions")
    }
}

extension NamedCacheStatus.Usage: WireMessage {
    typealias Form = Imagebus__V1__NamedCacheStatus__Usage
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__named_cache_status__usage__init }
    static var blank: Self { Self() }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.number(&entries, &wire.pointee.entries, "Usage.entries")
        try map.number(&bytes, &wire.pointee.bytes, "Usage.bytes")
        try map.number(&entriesMax, &wire.pointee.entries_max, "Usage.entries_max")
        try map.number(&bytesMax, &wire.pointee.bytes_max, "Usage.bytes_max")
    }
}

extension FailureCacheCommand: WireMessage {
    typealias Form = Imagebus__V1__BlacklistCommand
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__blacklist_command__init }
    static var blank: Self { .clear }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        if try map.part(
            { if case .list(let after) = self { FailureCachePage(after: after) } else { nil } },
            { self = .list(after: $0.after) }, &wire.pointee.list,
            if: &wire.pointee.command_case, 1, "BlacklistCommand.list")
        {
            return
        }
        if try map.text(
            { if case .remove(let url) = self { url } else { nil } }, { self = .remove(url: $0) },
            &wire.pointee.remove,
            if: &wire.pointee.command_case, 2, "BlacklistCommand.remove",
            limit: RequestLimits.urlBytesMax)
        {
            return
        }
        if try map.unit(
            self == .clear, { self = .clear }, &wire.pointee.clear, if: &wire.pointee.command_case,
            3, "BlacklistCommand.clear")
        {
            return
        }
        throw .field("BlacklistCommand.command", .missing)
    }
}

/// The page of entries to list.
struct FailureCachePage: WireMessage {
    var after: UInt64

    typealias Form = Imagebus__V1__BlacklistCommand__List
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__blacklist_command__list__init }
    static var blank: Self { Self(after: 0) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.number(&after, &wire.pointee.after, "List.after")
    }
}

extension FailureCacheReport: WireMessage {
    typealias Form = Imagebus__V1__BlacklistReport
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__blacklist_report__init }
    static var blank: Self { Self(entries: [], hasMore: false, removed: 0) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.list(
            &entries, &wire.pointee.n_entries, &wire.pointee.entries, "BlacklistReport.entries",
            limit: MessageLimits.failureCacheEntriesMax)
        map.flag(&hasMore, &wire.pointee.has_more, "BlacklistReport.has_more")
        try map.number(&removed, &wire.pointee.removed, "BlacklistReport.removed")
    }
}

extension FailureCacheReport.Entry: WireMessage {
    typealias Form = Imagebus__V1__BlacklistReport__Entry
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__blacklist_report__entry__init }
    static var blank: Self {
        Self(number: 0, url: "", operation: "", reason: .poisoned, expiresInMilliseconds: 0)
    }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.counted(&number, &wire.pointee.number, "Entry.number")
        try map.text(&url, &wire.pointee.url, "Entry.url", limit: MessageLimits.keyBytesMax)
        try map.text(
            &operation, &wire.pointee.operation, "Entry.operation",
            limit: MessageLimits.textBytesMax)
        try map.word(&reason, &wire.pointee.reason, "Entry.reason")
        try map.number(
            &expiresInMilliseconds, &wire.pointee.expires_in_milliseconds,
            "Entry.expires_in_milliseconds")
    }
}
