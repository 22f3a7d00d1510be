import CMessages
import ImageModel
import Messages

extension BlacklistCommand: WireMessage {
    static var begin: (CPart<Imagebus__V1__BlacklistCommand>?) -> Void {
        imagebus__v1__blacklist_command__init
    }
    static var blank: Self { .clear }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__BlacklistCommand>
    ) throws(WireError) {
        if try map.part(
            { if case .list(let after) = value { BlacklistPage(after: after) } else { nil } },
            { value = .list(after: $0.after) }, &wire.pointee.list,
            if: &wire.pointee.command_case, 1, "BlacklistCommand.list")
        {
            return
        }
        if try map.text(
            { if case .remove(let url) = value { url } else { nil } }, { value = .remove(url: $0) },
            &wire.pointee.remove,
            if: &wire.pointee.command_case, 2, "BlacklistCommand.remove",
            limit: RequestLimits.urlBytesMax)
        {
            return
        }
        if try map.unit(
            value == .clear, { value = .clear }, &wire.pointee.clear,
            if: &wire.pointee.command_case, 3, "BlacklistCommand.clear")
        {
            return
        }
        throw .field("BlacklistCommand.command", .missing)
    }
}

/// Which entries are listed.
struct BlacklistPage: WireMessage {
    var after: UInt64

    static var begin: (CPart<Imagebus__V1__BlacklistCommand__List>?) -> Void {
        imagebus__v1__blacklist_command__list__init
    }
    static var blank: Self { Self(after: 0) }

    static func fields(
        _ map: some FieldMap, _ value: inout Self,
        _ wire: CPart<Imagebus__V1__BlacklistCommand__List>
    ) throws(WireError) {
        try map.number(&value.after, &wire.pointee.after, "List.after")
    }
}

extension BlacklistReport: WireMessage {
    static var begin: (CPart<Imagebus__V1__BlacklistReport>?) -> Void {
        imagebus__v1__blacklist_report__init
    }
    static var blank: Self { Self(entries: [], hasMore: false, removed: 0) }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__BlacklistReport>
    ) throws(WireError) {
        try map.list(
            &value.entries, &wire.pointee.n_entries, &wire.pointee.entries,
            "BlacklistReport.entries", limit: MessageLimits.blacklistEntriesMax)
        map.flag(&value.hasMore, &wire.pointee.has_more, "BlacklistReport.has_more")
        try map.number(&value.removed, &wire.pointee.removed, "BlacklistReport.removed")
    }
}

extension BlacklistReport.Entry: WireMessage {
    static var begin: (CPart<Imagebus__V1__BlacklistReport__Entry>?) -> Void {
        imagebus__v1__blacklist_report__entry__init
    }
    static var blank: Self {
        Self(number: 0, url: "", operation: "", reason: .poisoned, expiresInMilliseconds: 0)
    }

    static func fields(
        _ map: some FieldMap, _ value: inout Self,
        _ wire: CPart<Imagebus__V1__BlacklistReport__Entry>
    ) throws(WireError) {
        try map.counted(&value.number, &wire.pointee.number, "Entry.number")
        try map.text(&value.url, &wire.pointee.url, "Entry.url", limit: MessageLimits.keyBytesMax)
        try map.text(
            &value.operation, &wire.pointee.operation, "Entry.operation",
            limit: MessageLimits.textBytesMax)
        try map.word(&value.reason, &wire.pointee.reason, "Entry.reason")
        try map.number(
            &value.expiresInMilliseconds, &wire.pointee.expires_in_milliseconds,
            "Entry.expires_in_milliseconds")
    }
}
