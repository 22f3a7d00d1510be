import CMessages
import ImageModel
import Messages

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
