import CMessages
import ImageModel
import Messages

extension CacheCommand: WireMessage {
    static var begin: (CPart<Imagebus__V1__CacheCommand>?) -> Void {
        imagebus__v1__cache_command__init
    }
    static var blank: Self { Self(number: 0, action: .contains, cache: nil, key: "", tiers: .all) }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__CacheCommand>
    ) throws(WireError) {
        try map.number(&value.number, &wire.pointee.number, "CacheCommand.number")
        try map.word(&value.action, &wire.pointee.action, "CacheCommand.action")
        try map.name(&value.cache, &wire.pointee.cache, "CacheCommand.cache")
        try map.text(
            &value.key, &wire.pointee.key, "CacheCommand.key", limit: MessageLimits.keyBytesMax)
        var tiers: CacheTypes? = value.tiers
        try map.tiers(
            &tiers, &wire.pointee.tiers, if: &wire.pointee.maybe_tiers_case, 5, "CacheCommand.tiers"
        )
        value.tiers = tiers ?? .all
    }
}

extension CacheReport: WireMessage {
    static var begin: (CPart<Imagebus__V1__CacheReport>?) -> Void {
        imagebus__v1__cache_report__init
    }
    static var blank: Self { Self(number: 0, outcome: .tiers([])) }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__CacheReport>
    ) throws(WireError) {
        try map.number(&value.number, &wire.pointee.number, "CacheReport.number")
        if try map.tiers(
            { if case .tiers(let tiers) = value.outcome { tiers } else { nil } },
            { value.outcome = .tiers($0) }, &wire.pointee.tiers,
            if: &wire.pointee.outcome_case, 2, "CacheReport.tiers")
        {
            return
        }
        if try map.part(
            { if case .failure(let error) = value.outcome { error } else { nil } },
            { value.outcome = .failure($0) }, &wire.pointee.failure,
            if: &wire.pointee.outcome_case, 3, "CacheReport.failure")
        {
            return
        }
        throw .field("CacheReport.outcome", .missing)
    }
}
