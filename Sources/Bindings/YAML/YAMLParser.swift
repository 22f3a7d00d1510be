internal import CYAML

/// Reads one YAML document (libyaml, YAML 1.1) into a tree.
///
/// Aliases are refused, since a few lines of them make gigabytes; so are tags, a second document,
/// keys that are no scalars, and a key that is in its map twice. The text is UTF-8.
public enum YAMLParser {
    /// The tree of `bytes`; `nil` for a text without a document, such as an empty one.
    public static func parse(_ bytes: [UInt8]) throws(YAMLError) -> YAMLNode? {
        guard bytes.count <= YAMLLimits.bytesMax else {
            throw YAMLError(
                line: 1, column: 1, "the file has more than \(YAMLLimits.bytesMax) bytes")
        }
        return try withoutTypes {
            try bytes.withUnsafeBufferPointer { buffer in
                var events = try EventReader(buffer)
                return try document(&events)
            }
        }
    }

    /// The buffer's function does not carry the type of what is thrown in it.
    private static func withoutTypes(_ body: () throws -> YAMLNode?) throws(YAMLError) -> YAMLNode?
    {
        do {
            return try body()
        } catch let error as YAMLError {
            throw error
        } catch {
            throw YAMLError(line: 1, column: 1, "\(error)")
        }
    }

    private static func document(_ events: inout EventReader) throws(YAMLError) -> YAMLNode? {
        var root: YAMLNode?
        while true {
            let event = try events.next()
            switch event.kind {
            case .end: return root
            case .document where root != nil:
                throw event.error("one document is read, this is a second one")
            case .document: root = try node(events.next(), &events, depth: 0)
            default: continue
            }
        }
    }

    private static func node(
        _ event: Event, _ events: inout EventReader, depth: Int
    ) throws(YAMLError) -> YAMLNode {
        if event.isTagged { throw event.error("tags are not read here") }
        let isDeep = depth >= YAMLLimits.depthMax
        switch event.kind {
        case .scalar: return event.node(.scalar(event.text))
        case .list, .map:
            if isDeep {
                throw event.error("lists and maps are nested more than \(YAMLLimits.depthMax) deep")
            }
            return event.kind == .list
                ? try list(event, &events, depth: depth + 1)
                : try map(event, &events, depth: depth + 1)
        case .alias: throw event.error("aliases are not read here: write the value out")
        case .end, .close, .document, .other: throw event.error("there is no value here")
        }
    }

    private static func list(
        _ start: Event, _ events: inout EventReader, depth: Int
    ) throws(YAMLError) -> YAMLNode {
        var items: [YAMLNode] = []
        while true {
            let event = try events.next()
            if event.kind == .close { return start.node(.list(items)) }
            items.append(try node(event, &events, depth: depth))
        }
    }

    private static func map(
        _ start: Event, _ events: inout EventReader, depth: Int
    ) throws(YAMLError) -> YAMLNode {
        var entries: [YAMLEntry] = []
        var known: [String: Int] = [:]
        while true {
            let key = try events.next()
            if key.kind == .close { return start.node(.map(entries)) }
            if key.kind == .alias { throw key.error("aliases are not read here") }
            guard key.kind == .scalar, !key.isTagged else {
                throw key.error("a key is a plain text")
            }
            if let line = known[key.text] {
                throw key.error("'\(key.text)' is here twice, first in line \(line)")
            }
            known[key.text] = key.line
            let value = try node(events.next(), &events, depth: depth)
            entries.append(
                YAMLEntry(key: key.text, line: key.line, column: key.column, value: value))
        }
    }
}
