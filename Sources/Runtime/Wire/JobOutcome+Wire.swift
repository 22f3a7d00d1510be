import CMessages
import ImageModel
import Messages

extension JobOutcome: WireMessage {
    static var begin: (CPart<Imagebus__V1__Outcome>?) -> Void { imagebus__v1__outcome__init }
    static var blank: Self { Self(id: JobID(0), attempt: 0, result: .miss, workMicroseconds: 0) }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Outcome>
    ) throws(WireError) {
        try map.counted(&value.id, &wire.pointee.id, "Outcome.id")
        try map.counted(&value.attempt, &wire.pointee.attempt, "Outcome.attempt")
        try map.number(
            &value.workMicroseconds, &wire.pointee.work_microseconds, "Outcome.work_microseconds")
        try result(map, &value, wire)
    }

    private static func result(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Outcome>
    ) throws(WireError) {
        if try map.part(
            { if case .fetched(let body) = value.result { body } else { nil } },
            { value.result = .fetched($0) }, &wire.pointee.fetched,
            if: &wire.pointee.result_case, 8, "Outcome.fetched")
        {
            return
        }
        if try map.part(
            { if case .hit(let hit) = value.result { hit } else { nil } },
            { value.result = .hit($0) }, &wire.pointee.hit,
            if: &wire.pointee.result_case, 9, "Outcome.hit")
        {
            return
        }
        if try map.unit(
            value.result == .miss, { value.result = .miss }, &wire.pointee.miss,
            if: &wire.pointee.result_case, 10, "Outcome.miss")
        {
            return
        }
        if try map.part(
            { if case .stored(let report) = value.result { report } else { nil } },
            { value.result = .stored($0) }, &wire.pointee.stored,
            if: &wire.pointee.result_case, 11, "Outcome.stored")
        {
            return
        }
        if try map.part(
            { if case .decoded(let image) = value.result { image } else { nil } },
            { value.result = .decoded($0) }, &wire.pointee.decoded,
            if: &wire.pointee.result_case, 12, "Outcome.decoded")
        {
            return
        }
        if try map.part(
            { if case .transformed(let image) = value.result { image } else { nil } },
            { value.result = .transformed($0) }, &wire.pointee.transformed,
            if: &wire.pointee.result_case, 13, "Outcome.transformed")
        {
            return
        }
        if try map.part(
            { if case .failed(let error) = value.result { error } else { nil } },
            { value.result = .failed($0) }, &wire.pointee.failed,
            if: &wire.pointee.result_case, 14, "Outcome.failed")
        {
            return
        }
        if try map.part(
            { if case .entry(let tiers) = value.result { EntryReport(tiers: tiers) } else { nil } },
            { value.result = .entry($0.tiers) }, &wire.pointee.entry,
            if: &wire.pointee.result_case, 15, "Outcome.entry")
        {
            return
        }
        throw .field("Outcome.result", .missing)
    }
}
