import CMessages
import ImageModel
import Messages

extension EntryWork: WireMessage {
    typealias Form = Imagebus__V1__Entry
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__entry__init }
    static var blank: Self { Self(action: .contains, key: "", tiers: []) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.word(&action, &wire.pointee.action, "Entry.action")
        try map.text(&key, &wire.pointee.key, "Entry.key", limit: MessageLimits.keyBytesMax)
        try map.tiers(&tiers, &wire.pointee.tiers, "Entry.tiers")
        try map.part(
            &selection, unless: selection.isAll, &wire.pointee.selection, "Entry.selection")
        try map.number(&after, &wire.pointee.after, "Entry.after")
        try map.number(
            &limit, within: 0...UInt32(EntryPage.entriesMax), &wire.pointee.limit, "Entry.limit")
        try map.maybe(&renewal, &wire.pointee.renewal, "Entry.renewal")
        try map.caches(
            &caches, &wire.pointee.n_caches, &wire.pointee.caches, "Entry.caches")
        map.flag(&memoryFirst, &wire.pointee.memory_first, "Entry.memory_first")
        map.flag(&inSteps, &wire.pointee.in_steps, "Entry.in_steps")
        map.flag(&wantsValidity, &wire.pointee.wants_validity, "Entry.wants_validity")
    }
}
