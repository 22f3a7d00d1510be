internal import CYAML

/// Parses one YAML document (libyaml, YAML 1.1) into a tree.
///
/// Refuses aliases, since a few lines of them can expand to gigabytes, as well as tags, a second
/// document, keys that aren't scalars, and duplicate keys. The text must be UTF-8.
public enum YAMLParser {
    /// Returns the tree, or `nil` for a text without a document, such as an empty one.
    public static func parse(_ bytes: [UInt8]) throws(YAMLError) -> YAMLNode? {
        guard bytes.count <= YAMLLimits.bytesMax else {
            throw YAMLError(
                line: 1, column: 1, reason: "the file exceeds \(YAMLLimits.bytesMax) bytes")
        }
        return try withoutTypes {
            try bytes.withUnsafeBufferPointer { buffer in
                var events = try EventReader(buffer)
                return try document(&events)
            }
        }
    }

    /// Restores the error type, which the buffer's function doesn't preserve.
    private static func withoutTypes(_ body: () throws -> YAMLNode?) throws(YAMLError) -> YAMLNode?
    {
        do {
            return try body()
        } catch let error as YAMLError {
            throw error
        } catch {
            throw YAMLError(line: 1, column: 1, reason: "\(error)")
        }
    }

    private static func document(_ events: inout EventReader) throws(YAMLError) -> YAMLNode? {
        var root: YAMLNode?
        while true {
            let event = try events.next()
            switch event.kind {
            case CYAML_END: return root
            case CYAML_DOCUMENT where root != nil:
                throw event.error("only a single document is supported")
            case CYAML_DOCUMENT: root = try node(events.next(), &events, depth: 0)
            default: continue
            }
        }
    }

    private static func node(
        _ event: Event, _ events: inout EventReader, depth: Int
    ) throws(YAMLError) -> YAMLNode {
        if event.isTagged { throw event.error("tags are not supported") }
        let isDeep = depth >= YAMLLimits.depthMax
        switch event.kind {
        case CYAML_SCALAR: return event.node(.scalar(event.text))
        case CYAML_LIST, CYAML_MAP:
            if isDeep {
                throw event.error(
                    "lists and maps are nested deeper than \(YAMLLimits.depthMax) levels")
            }
            return event.kind == CYAML_LIST
                ? try list(event, &events, depth: depth + 1)
                : try map(event, &events, depth: depth + 1)
        case CYAML_ALIAS: throw event.error("aliases are not supported: repeat the value")
        default: throw event.error("the value is missing")
        }
    }

    private static func list(
        _ start: Event, _ events: inout EventReader, depth: Int
    ) throws(YAMLError) -> YAMLNode {
        var items: [YAMLNode] = []
        while true {
            let event = try events.next()
            if event.kind == CYAML_CLOSE { return start.node(.list(items)) }
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
            if key.kind == CYAML_CLOSE { return start.node(.map(entries)) }
            if key.kind == CYAML_ALIAS { throw key.error("aliases are not supported") }
            guard key.kind == CYAML_SCALAR, !key.isTagged else {
                throw key.error("a key must be a scalar")
            }
            if let line = known[key.text] {
                throw key.error("duplicate key '\(key.text)', first in line \(line)")
            }
            known[key.text] = key.line
            let value = try node(events.next(), &events, depth: depth)
            entries.append(
                YAMLEntry(key: key.text, line: key.line, column: key.column, value: value))
        }
    }
}

/// A value of a document with its position. Scalars are texts, to be interpreted by the reader.
public struct YAMLNode: Hashable, Sendable {
    /// The kinds of values.
    public enum Content: Hashable, Sendable {
        /// A text, quoted or not.
        case scalar(String)
        /// Values in order.
        case list([YAMLNode])
        /// Keys with values in order, without duplicates.
        case map([YAMLEntry])
    }

    /// The value.
    public let content: Content
    /// The line, counted from 1.
    public let line: Int
    /// The column, counted from 1.
    public let column: Int

    /// Creates a value at a position.
    public init(_ content: Content, line: Int, column: Int) {
        self.content = content
        self.line = line
        self.column = column
    }
}

/// A key of a map and its value.
public struct YAMLEntry: Hashable, Sendable {
    /// The key.
    public let key: String
    /// The line of the key, counted from 1.
    public let line: Int
    /// The column of the key, counted from 1.
    public let column: Int
    /// The value.
    public let value: YAMLNode
}

/// A libyaml event, copied out of libyaml's structure.
struct Event {
    let kind: cyaml_kind
    let isTagged: Bool
    let text: String
    let line: Int
    let column: Int

    func node(_ content: YAMLNode.Content) -> YAMLNode {
        YAMLNode(content, line: line, column: column)
    }

    func error(_ reason: String) -> YAMLError {
        YAMLError(line: line, column: column, reason: reason)
    }
}

/// libyaml's parser over bytes that outlive it.
struct EventReader: ~Copyable {
    private let parser: UnsafeMutablePointer<yaml_parser_t>

    init(_ bytes: UnsafeBufferPointer<UInt8>) throws(YAMLError) {
        parser = .allocate(capacity: 1)
        guard yaml_parser_initialize(parser) == 1 else {
            parser.deallocate()
            throw YAMLError(line: 1, column: 1, reason: "not enough memory for a parser")
        }
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        yaml_parser_set_input_string(parser, bytes.baseAddress, bytes.count)
    }

    deinit {
        yaml_parser_delete(parser)
        parser.deallocate()
    }

    /// Returns the next event; after the last one, `end`.
    mutating func next() throws(YAMLError) -> Event {
        var event = yaml_event_t()
        guard yaml_parser_parse(parser, &event) == 1 else { throw failure }
        defer { yaml_event_delete(&event) }
        let step = cyaml_read(&event)
        let text = UnsafeRawBufferPointer(start: step.text, count: step.length)
        return Event(
            kind: step.kind, isTagged: step.is_tagged != 0,
            text: String(decoding: text, as: UTF8.self), line: Int(step.line),
            column: Int(step.column))
    }

    /// The parser's error. Encoding errors only have a byte offset.
    private var failure: YAMLError {
        let problem = parser.pointee
        let reason = problem.problem.map { String(cString: $0) } ?? "invalid YAML"
        let context = problem.context.map { " \(String(cString: $0))" } ?? ""
        return YAMLError(
            line: Int(problem.problem_mark.line) + 1, column: Int(problem.problem_mark.column) + 1,
            reason: reason + context)
    }
}

/// Why a text isn't a valid document for this parser.
public struct YAMLError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The line, counted from 1.
    public let line: Int
    /// The column, counted from 1.
    public let column: Int
    /// The problem.
    public let reason: String

    /// `3:7: reason`
    public var description: String { "\(line):\(column): \(reason)" }
}

/// Limits on a document.
public enum YAMLLimits {
    /// The size of the text in bytes.
    public static let bytesMax = 1 << 20
    /// The nesting depth of lists and maps.
    public static let depthMax = 16
}
