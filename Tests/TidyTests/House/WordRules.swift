/// Words that are banned from the repository.
///
/// Words that are banned everywhere are split in two here, so that this file and its tests pass the
/// check themselves.
enum WordRules {
    static let unfinished = ["TO" + "DO", "FIX" + "ME", "XX" + "X"]
    static let machinePaths = ["/wo" + "rk/", "/ro" + "ot/", "/opt/sw" + "ift"]

    static func unfinishedWork(_ source: SourceText) -> [Finding] {
        let words = unfinished.filter(source.mentions)
        guard !words.isEmpty else { return [] }
        return source.lines.indices.flatMap { index in
            words.filter { source.lines[index].containsWord($0) }.map {
                source.finding(at: index, $0, "do it now, or open an issue")
            }
        }
    }

    static func pathsOfOneMachine(_ source: SourceText) -> [Finding] {
        let paths = machinePaths.filter(source.mentions)
        guard !paths.isEmpty else { return [] }
        return source.lines.indices.flatMap { index in
            paths.filter { source.lines[index].contains($0) }.map {
                source.finding(at: index, "path of one machine, \($0)", "use a relative path")
            }
        }
    }

    /// Swift only: comments and literals may mention banned code.
    static func bannedCode(_ source: SourceText) -> [Finding] {
        guard source.path.hasSuffix(".swift"), signs.contains(where: source.mentions)
        else { return [] }
        return source.code.indices.flatMap { index in
            banned(in: source.code[index], of: source.path).map {
                source.finding(at: index, $0.rule, $0.remedy)
            }
        }
    }

    /// Only the command line writes output for users.
    static func isCommandLine(_ path: String) -> Bool {
        path.hasPrefix("Sources/Programs/imagebus-cli/")
    }

    /// Foundation adds megabytes to every program that links it. One library extends the client's
    /// calls with the types of FoundationEssentials, for programs that link it anyway. In tests,
    /// one file uses it to parse JSON independently of the writer under test.
    static func mayImport(_ module: String, _ path: String) -> Bool {
        module == "FoundationEssentials" && usersOfFoundation.contains { path.hasPrefix($0) }
    }

    private static let usersOfFoundation = [
        "Sources/Client/ImagebusFoundation/", "Tests/ImagebusFoundationTests/",
        "Tests/IntegrationTests/FoundationTests.swift", "Tests/TestKit/Stack/JSONValue.swift",
    ]

    /// A file without any of these needs no further check.
    private static let signs = [
        "try!", "fatalError()", "preconditionFailure()", "actor ", "print(", "Foundation",
    ]

    private static func banned(
        in code: String, of path: String
    ) -> [(rule: String, remedy: String)] {
        var found: [(String, String)] = []
        if code.contains("try!") { found.append(("try!", "handle the error, or throw it on")) }
        if code.contains("fatalError()") || code.contains("preconditionFailure()") {
            found.append(("a trap without a sentence", "say which invariant was broken"))
        }
        if code.declaresActor { found.append(("actor", "use a value and one thread that owns it")) }
        if path.hasPrefix("Sources/"), !isCommandLine(path), code.callsPrint {
            found.append(("print(", "write a log line with Log"))
        }
        if let module = Imports.module(in: code), module.hasPrefix("Foundation") {
            if !mayImport(module, path) {
                found.append(("import \(module)", "use Glibc or a binding"))
            }
        }
        return found
    }
}

extension StringProtocol {
    /// Whether `word` occurs in the text without an adjacent letter, digit or underscore.
    func containsWord(_ word: String) -> Bool {
        ranges(of: word).contains { range in
            let before =
                range.lowerBound == startIndex ? nil : self[index(before: range.lowerBound)]
            let after = range.upperBound == endIndex ? nil : self[range.upperBound]
            return before?.isPartOfName != true && after?.isPartOfName != true
        }
    }

    fileprivate var declaresActor: Bool {
        let words = split(separator: " ")
        guard let place = words.firstIndex(of: "actor"), place + 1 < words.count else {
            return false
        }
        return words[place + 1].first?.isLetter == true
    }

    fileprivate var callsPrint: Bool {
        ranges(of: "print(").contains { range in
            guard range.lowerBound > startIndex else { return true }
            let before = self[index(before: range.lowerBound)]
            return !before.isPartOfName && before != "."
        }
    }
}

extension Character {
    fileprivate var isPartOfName: Bool { isLetter || isNumber || self == "_" }
}
