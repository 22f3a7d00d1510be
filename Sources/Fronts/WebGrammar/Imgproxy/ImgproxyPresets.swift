/// Options of imgproxy's by name.
public struct ImgproxyPresets: Hashable, Sendable {
    /// What one comes to with those that it names.
    struct Preset: Hashable, Sendable {
        var names: [String]
        var options: [OptionArguments] = []
    }

    private(set) var flattened: [String: Preset] = [:]

    /// None.
    public init() {}

    /// Options as URLs have them, by name, such as `rt:fill/q:70`; a preset may name others. Throws
    /// for what is no option, for names of none and for circles.
    public init(_ texts: [String: String], separator: String = ":") throws(GrammarError) {
        for name in texts.keys {
            flattened[name] = try Self.flatten(name, texts, separator)
        }
    }

    /// The lines of a file, each `NAME=OPTIONS`; empty ones, and those that begin with `#`, say
    /// nothing.
    public init(lines text: String, separator: String = ":") throws(GrammarError) {
        var texts: [String: String] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            let line = line.trimmed
            guard !line.isEmpty, line.first != "#" else { continue }
            let words = line.split(separator: "=", omittingEmptySubsequences: false)
                .map(\.trimmed)
            guard words.count == 2, !words[0].isEmpty, !words[1].isEmpty else {
                throw .malformed("preset", "'\(line.prefix(40))' is not NAME=OPTIONS")
            }
            guard texts.updateValue(String(words[1]), forKey: String(words[0])) == nil else {
                throw .malformed("preset", "'\(words[0].prefix(40))' is there twice: remove one")
            }
        }
        try self.init(texts, separator: separator)
    }

    /// What is still to be read: one more option, and where a preset begins and ends.
    private enum Item {
        case option(String)
        case begin(String)
        case end(String)
    }

    private static func flatten(
        _ name: String, _ texts: [String: String], _ separator: String
    ) throws(GrammarError) -> Preset {
        var preset = Preset(names: [])
        var open: Set<String> = []
        var waiting: [Item] = [.begin(name)]
        while let item = waiting.popLast() {
            switch item {
            case .option(let text): try read(text, separator, &preset, &waiting)
            case .end(let ended): open.remove(ended)
            case .begin(let begun):
                guard let text = texts[begun] else {
                    throw .malformed("preset", "'\(begun.prefix(40))' is no preset: name another")
                }
                guard open.insert(begun).inserted else {
                    throw .malformed(
                        "preset", "'\(begun.prefix(40))' names itself: leave that out")
                }
                preset.names.append(begun)
                waiting.append(.end(begun))
                waiting += text.split("/").reversed().map { .option($0) }
            }
            guard preset.options.count + preset.names.count <= GrammarLimits.appliedMax else {
                throw .tooManyOptions
            }
        }
        return preset
    }

    private static func read(
        _ text: String, _ separator: String, _ preset: inout Preset, _ waiting: inout [Item]
    ) throws(GrammarError) {
        let words = text.split(separator)
        guard words.count > 1 else {
            throw .malformed("preset", "'\(text.prefix(40))' is no option: write NAME\(separator)…")
        }
        if ImgproxyOption.preset.names.contains(words[0]) {
            waiting += words.dropFirst().reversed().map { .begin($0) }
        } else {
            preset.options.append(OptionArguments(words[0], Array(words.dropFirst())))
        }
    }
}

extension StringProtocol {
    /// Without the blanks around it.
    fileprivate var trimmed: SubSequence {
        let start = drop { $0 == " " || $0 == "\t" }
        let end = start.lastIndex { $0 != " " && $0 != "\t" }
        return end.map { start[...$0] } ?? start.prefix(0)
    }
}
