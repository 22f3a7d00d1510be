import CMessages
import ImageModel
import Messages

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

    /// What a cache answers.
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
