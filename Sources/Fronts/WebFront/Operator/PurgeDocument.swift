import ImageModel
import JSON
import Messages

/// What became of a removal, as a JSON object: what was removed, and how many entries of each tier
/// that were.
struct PurgeDocument: Encodable {
    let meaning: PurgeRequest.Meaning
    let page: EntryPage

    private enum Names: String, CodingKey { case url, prefix, tag, memory, disk }

    func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Names.self)
        switch meaning {
        case .url(let url):
            try members.encode((try? SourceURL(url))?.withoutUserInfo ?? "", forKey: .url)
        case .prefix(let prefix): try members.encode(prefix, forKey: .prefix)
        case .tag(let tag): try members.encode(tag, forKey: .tag)
        }
        try members.encode(Int64(clamping: page.memory.entries), forKey: .memory)
        try members.encode(Int64(clamping: page.disk.entries), forKey: .disk)
    }

    /// Its bytes; `nil` where it cannot be written.
    var text: [UInt8]? { (try? JSONWriter.text(self)).map { Array(($0 + "\n").utf8) } }
}

extension PurgeRequest {
    /// Which entries the stack removes.
    var selection: EntrySelection {
        switch meaning {
        case .url(let url): EntrySelection(url: url)
        case .prefix(let prefix): EntrySelection(prefix: prefix)
        case .tag(let tag): EntrySelection(tag: tag)
        }
    }
}
