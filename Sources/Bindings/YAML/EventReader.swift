internal import CYAML

/// One event of libyaml, copied out of it.
struct Event {
    /// What a document is made of.
    enum Kind {
        case end, scalar, list, map, close, alias, document, other
    }

    let kind: Kind
    let isTagged: Bool
    let text: String
    let line: Int
    let column: Int

    func node(_ content: YAMLNode.Content) -> YAMLNode {
        YAMLNode(content, line: line, column: column)
    }

    func error(_ reason: String) -> YAMLError { YAMLError(line: line, column: column, reason) }
}

/// libyaml's parser over bytes that outlive it.
struct EventReader: ~Copyable {
    private let parser: UnsafeMutablePointer<yaml_parser_t>

    init(_ bytes: UnsafeBufferPointer<UInt8>) throws(YAMLError) {
        parser = .allocate(capacity: 1)
        guard yaml_parser_initialize(parser) == 1 else {
            parser.deallocate()
            throw YAMLError(line: 1, column: 1, "there is no memory for a parser")
        }
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        yaml_parser_set_input_string(parser, bytes.baseAddress, bytes.count)
    }

    deinit {
        yaml_parser_delete(parser)
        parser.deallocate()
    }

    /// The next event; after the last one it is `end`.
    mutating func next() throws(YAMLError) -> Event {
        var event = yaml_event_t()
        guard yaml_parser_parse(parser, &event) == 1 else { throw failure }
        defer { yaml_event_delete(&event) }
        let step = cyaml_read(&event)
        let text = UnsafeRawBufferPointer(start: step.text, count: step.length)
        return Event(
            kind: Self.kind(step.kind), isTagged: step.is_tagged != 0,
            text: String(decoding: text, as: UTF8.self), line: Int(step.line),
            column: Int(step.column))
    }

    private static func kind(_ kind: cyaml_kind) -> Event.Kind {
        switch kind {
        case CYAML_END: .end
        case CYAML_SCALAR: .scalar
        case CYAML_LIST: .list
        case CYAML_MAP: .map
        case CYAML_CLOSE: .close
        case CYAML_ALIAS: .alias
        case CYAML_DOCUMENT: .document
        default: .other
        }
    }

    /// Faults of the encoding have no place but the number of a byte.
    private var failure: YAMLError {
        let problem = parser.pointee
        let reason = problem.problem.map { String(cString: $0) } ?? "this is no YAML"
        let context = problem.context.map { " \(String(cString: $0))" } ?? ""
        return YAMLError(
            line: Int(problem.problem_mark.line) + 1, column: Int(problem.problem_mark.column) + 1,
            reason + context)
    }
}
