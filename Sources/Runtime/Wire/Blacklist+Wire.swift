import CMessages
import ImageModel
import Messages

extension BlacklistCommand: WireMessage {
    typealias Form = Imagebus__V1__BlacklistCommand
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__blacklist_command__init }
    static var blank: Self { .clear }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        if try map.part(
            { if case .list(let after) = self { BlacklistPage(after: after) } else { nil } },
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

/// Which entries are listed.
struct BlacklistPage: WireMessage {
    var after: UInt64

    typealias Form = Imagebus__V1__BlacklistCommand__List
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__blacklist_command__list__init }
    static var blank: Self { Self(after: 0) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.number(&after, &wire.pointee.after, "List.after")
    }
}

extension BlacklistReport: WireMessage {
    typealias Form = Imagebus__V1__BlacklistReport
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__blacklist_report__init }
    static var blank: Self { Self(entries: [], hasMore: false, removed: 0) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.list(
            &entries, &wire.pointee.n_entries, &wire.pointee.entries, "BlacklistReport.entries",
            limit: MessageLimits.blacklistEntriesMax)
        map.flag(&hasMore, &wire.pointee.has_more, "BlacklistReport.has_more")
        try map.number(&removed, &wire.pointee.removed, "BlacklistReport.removed")
    }
}

extension BlacklistReport.Entry: WireMessage {
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
