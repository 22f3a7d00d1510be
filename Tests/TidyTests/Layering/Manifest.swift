/// The modules declared by `Package.swift`.
///
/// The manifest is read as text, since asking the package manager takes seconds. The forms that our
/// manifest uses are supported: `module("Name", […])`, `module("Layer/Name", […])`,
/// `program("name", […])`, with or without `worker +`, and `.target` or `.systemLibrary` with a
/// literal name and a path below `Sources`, which are C modules.
struct Manifest {
    let rooms: [Room]

    init(text: String) {
        let source = SourceText(path: "Package.swift", text: text)
        let worker = Self.calls("let worker: [Target.Dependency] = [", "[", "]", in: source)
            .first.map { Self.literals(in: $0.text) }
        rooms =
            Self.calls("module(", "(", ")", in: source).compactMap(Self.module)
            + Self.calls("program(", "(", ")", in: source).compactMap {
                Self.program($0, worker: worker ?? [])
            }
            + Self.calls(".target(", "(", ")", in: source).compactMap(Self.cTarget)
            + Self.calls(".systemLibrary(", "(", ")", in: source).compactMap(Self.cTarget)
    }

    subscript(name: String) -> Room? { rooms.first { $0.name == name } }

    private struct Call {
        let text: String
        let line: Int
    }

    private static func module(_ call: Call) -> Room? {
        let words = literals(in: call.text)
        let parts = words.first?.split(separator: "/").map(String.init) ?? []
        guard let name = parts.last,
            let layer = parts.count == 1 ? Layer.core : Layer.layer(ofFolder: parts[0])
        else { return nil }
        return Room(
            name: name, layer: layer, path: "Sources/\(words[0])",
            dependencies: Array(words.dropFirst()), line: call.line)
    }

    private static func program(_ call: Call, worker: [String]) -> Room? {
        let words = literals(in: call.text)
        guard let name = words.first else { return nil }
        let shared = call.text.containsWord("worker") ? worker : []
        return Room(
            name: name, layer: .programs, path: "Sources/Programs/\(name)",
            dependencies: shared + words.dropFirst(), line: call.line)
    }

    private static func cTarget(_ call: Call) -> Room? {
        let words = literals(in: call.text)
        guard call.text.contains("name: \""), let name = words.first,
            let path = words.first(where: { $0.hasPrefix("Sources/") })
        else { return nil }
        let list = call.text.split(separator: "dependencies: [", maxSplits: 1).dropFirst().first
        let dependencies = literals(in: String(list?.prefix { $0 != "]" } ?? ""))
        return Room(
            name: name, layer: .c, path: path, dependencies: dependencies, line: call.line)
    }

    /// The text between the brackets of each occurrence of `start`, which ends with `open`.
    private static func calls(
        _ start: String, _ open: Character, _ close: Character, in source: SourceText
    ) -> [Call] {
        let text = source.lines.joined(separator: "\n")
        return text.ranges(of: start).compactMap { range in
            if let before = text[..<range.lowerBound].last, before.isLetter { return nil }
            if text[..<range.lowerBound].hasSuffix("func ") { return nil }
            var depth = 1
            let rest = text[range.upperBound...]
            let end = rest.firstIndex { character in
                if character == open { depth += 1 }
                if character == close { depth -= 1 }
                return depth == 0
            }
            guard let end else { return nil }
            let line = text[..<range.lowerBound].count { $0 == "\n" } + 1
            return Call(text: String(rest[..<end]), line: line)
        }
    }

    private static func literals(in text: String) -> [String] {
        let parts = text.split(separator: "\"", omittingEmptySubsequences: false)
        return parts.indices.filter { $0 % 2 == 1 }.map { String(parts[$0]) }
    }
}
