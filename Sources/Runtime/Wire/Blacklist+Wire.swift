import CMessages
import ImageModel
import Messages

extension BlacklistCommand {
    init(_ wire: Imagebus__V1__BlacklistCommand, _ read: FieldReader) throws(WireError) {
        switch wire.command_case {
        case IMAGEBUS__V1__BLACKLIST_COMMAND__COMMAND_LIST:
            self = .list(after: try read.required(wire.list, "BlacklistCommand.list").after)
        case IMAGEBUS__V1__BLACKLIST_COMMAND__COMMAND_REMOVE:
            self = .remove(
                url: try read.text(
                    wire.remove, "BlacklistCommand.remove", limit: RequestLimits.urlBytesMax))
        case IMAGEBUS__V1__BLACKLIST_COMMAND__COMMAND_CLEAR: self = .clear
        default: throw .field("BlacklistCommand.command", .missing)
        }
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__BlacklistCommand>
    {
        let wire = try write.make(imagebus__v1__blacklist_command__init)
        switch self {
        case .list(let after):
            wire.pointee.command_case = IMAGEBUS__V1__BLACKLIST_COMMAND__COMMAND_LIST
            let list = try write.make(imagebus__v1__blacklist_command__list__init)
            list.pointee.after = after
            wire.pointee.list = list
        case .remove(let url):
            wire.pointee.command_case = IMAGEBUS__V1__BLACKLIST_COMMAND__COMMAND_REMOVE
            wire.pointee.remove = try write.text(
                url, "BlacklistCommand.remove", limit: RequestLimits.urlBytesMax)
        case .clear:
            wire.pointee.command_case = IMAGEBUS__V1__BLACKLIST_COMMAND__COMMAND_CLEAR
            wire.pointee.clear = try write.make(imagebus__v1__unit__init)
        }
        return wire
    }
}

extension BlacklistReport {
    init(_ wire: Imagebus__V1__BlacklistReport, _ read: FieldReader) throws(WireError) {
        self.init(
            entries: try read.list(
                wire.n_entries, wire.entries, "BlacklistReport.entries",
                limit: MessageLimits.blacklistEntriesMax
            ) { part throws(WireError) in try Entry(part, read) },
            hasMore: wire.has_more != 0, removed: wire.removed)
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__BlacklistReport>
    {
        let wire = try write.make(imagebus__v1__blacklist_report__init)
        wire.pointee.n_entries = entries.count
        wire.pointee.entries = try write.list(
            entries, "BlacklistReport.entries", limit: MessageLimits.blacklistEntriesMax
        ) { entry throws(WireError) in try entry.wire(write) }
        wire.pointee.has_more = hasMore ? 1 : 0
        wire.pointee.removed = removed
        return wire
    }
}

extension BlacklistReport.Entry {
    fileprivate init(_ wire: Imagebus__V1__BlacklistReport__Entry, _ read: FieldReader)
        throws(WireError)
    {
        self.init(
            number: try read.counted(wire.number, "Entry.number"),
            url: try read.text(wire.url, "Entry.url", limit: MessageLimits.keyBytesMax),
            operation: try read.text(
                wire.operation, "Entry.operation", limit: MessageLimits.textBytesMax),
            reason: try read.known(wire.reason.rawValue, "Entry.reason"),
            expiresInMilliseconds: wire.expires_in_milliseconds)
    }

    fileprivate func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__BlacklistReport__Entry>
    {
        let wire = try write.make(imagebus__v1__blacklist_report__entry__init)
        wire.pointee.number = number
        wire.pointee.url = try write.text(url, "Entry.url", limit: MessageLimits.keyBytesMax)
        wire.pointee.operation = try write.text(
            operation, "Entry.operation", limit: MessageLimits.textBytesMax)
        wire.pointee.reason = .init(rawValue: .init(reason.rawValue))
        wire.pointee.expires_in_milliseconds = expiresInMilliseconds
        return wire
    }
}
