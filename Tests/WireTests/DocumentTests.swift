import Model
import Testing

/// The name of a kind in the protocol, which keeps the names of its first version.
private func wireName(of kind: MessageKind) -> String {
    switch kind {
    case .chunk: "piece"
    case .failureCacheCommand: "blacklistCommand"
    case .failureCacheReport: "blacklistReport"
    case .reprioritize: "reprioritise"
    default: "\(kind)"
    }
}

/// `PROTOCOL.md` and `imagebus.proto` agree with the code.
@Suite struct DocumentTests {
    @Test func theTableOfErrorsIsTheOneOfTheCode() throws {
        let rows = try ProtocolText.read().rows(of: 6).map { $0.prefix(5).joined(separator: " ") }
        let expected = ErrorCode.allCases.map { code in
            let rule = code.rule
            return "`\(rule.name)` \(code.rawValue) \(rule.retryable ? "yes" : "no") "
                + "\(rule.cachesFailures ? "yes" : "no") \(rule.exitStatus)"
        }
        #expect(rows == expected)
    }

    @Test func theTableOfKindsIsTheOneOfTheCode() throws {
        let rows = try ProtocolText.read().rows(of: 4).compactMap { row -> String? in
            UInt8(row[1]).map { "\(row[0]) \($0)" }
        }
        let expected = MessageKind.allCases.map { kind in
            let name = wireName(of: kind)
            return "`\(name.prefix(1).uppercased() + name.dropFirst())` \(kind.rawValue)"
        }
        #expect(rows == expected)
    }

    @Test func theTableOfFormatsIsTheOneOfTheCode() throws {
        let rows = try ProtocolText.read("SEMANTICS.md").rows(of: 4).map {
            $0.joined(separator: " ")
        }
        let expected = ImageFormat.allCases.filter { $0 != .undefined }.map { format in
            let traits = format.traits
            let parts = [
                traits.isDecodable && traits.isAnimated ? "animation" : "",
                traits.input?.pages == .images ? "pages" : "",
            ].filter { !$0.isEmpty }.joined(separator: ", ")
            let isApart = traits.input?.family == .vector
            let read = isApart ? "`--vector`" : format.isDecodable ? "yes" : ""
            let written = format.isEncodable ? "yes" : ""
            return "`\(format.name)` \(read) \(written) \(parts)"
        }
        #expect(rows == expected)
    }

    @Test func theTableOfSettingsIsTheOneOfTheCode() throws {
        let rows = try ProtocolText.read().rows(of: 5).map { $0.prefix(4).joined(separator: " ") }
        let expected = OutputSetting.allCases.map { setting in
            let (values, usual) =
                switch setting.row.values {
                case .flag: ("`\(OutputSetting.isThere)`", "–")
                case .number(let range, let usual):
                    (
                        "\(range.lowerBound) to \(range.upperBound)",
                        usual.map { "\($0)" } ?? "–"
                    )
                case .word(let words, let usual):
                    (
                        words.map { "`\($0)`" }.joined(separator: ", "),
                        usual.map { "`\(words[$0])`" } ?? "–"
                    )
                case .color: ("`#RRGGBB`", "`#ffffffff`")
                case .formats(let formats):
                    ("some of " + formats.map { "`\($0.name)`" }.joined(separator: ", "), "–")
                }
            let formats = setting.row.formats.map(\.name).joined(separator: ", ")
            return "`\(setting.name)` \(values) \(usual) \(formats)"
        }
        #expect(rows == expected)
    }

    @Test func theTableOfEXIFIsTheOneOfTheCode() throws {
        let rows = try ProtocolText.read().rows(of: 3).map { $0.prefix(2).joined(separator: " ") }
            .filter { $0.hasSuffix("EXIF") || $0.hasSuffix("GPS") }
        let expected = ExifField.allCases.map { field in
            "`\(field.rawValue)` \(field.kind == .gps ? "GPS" : "EXIF")"
        }
        #expect(rows == expected)
    }

    /// The comment above a message of the proto file states its kinds.
    @Test func theNumbersOfTheProtoFileAreThoseOfTheCode() throws {
        let lines = try ProtocolText.read("imagebus.proto").lines
        var found: [String: [UInt8]] = [:]
        for (comment, line) in zip(lines, lines.dropFirst()) where line.hasPrefix("message ") {
            guard comment.hasPrefix("// ") else { continue }
            let numbers = comment.split { !$0.isNumber }.compactMap { UInt8($0) }
            let name = line.split { " {}".contains($0) }[1]
            if !numbers.isEmpty { found[String(name)] = numbers }
        }
        var expected: [String: [UInt8]] = [:]
        for kind in MessageKind.allCases where kind != .versions {
            let name =
                switch kind {
                case .segmentsOpened, .segmentsClosed: "segments"
                case .loads, .replies: "batch"
                default: wireName(of: kind)
                }
            expected[name.prefix(1).uppercased() + name.dropFirst(), default: []]
                .append(kind.rawValue)
        }
        #expect(found == expected)
    }

    /// Values of an enumeration in the proto file, by name in the code's spelling.
    private func values(_ prefix: String) throws -> [String: Int] {
        var values: [String: Int] = [:]
        for line in try ProtocolText.read("imagebus.proto").lines {
            let words = line.split { " ;=".contains($0) }
            guard words.count == 2, words[0].hasPrefix(prefix + "_"), let value = Int(words[1])
            else { continue }
            values[String(words[0].dropFirst(prefix.count + 1)).lowercased()] = value
        }
        return values
    }

    /// Compares names case-insensitively and without underscores: `invalidURL` equals
    /// `invalid_url`.
    private func agree<Word: CaseIterable & RawRepresentable>(
        _ prefix: String, _ words: Word.Type, _ unspecified: String? = nil
    ) throws where Word.RawValue: BinaryInteger {
        var found: [String: Int] = [:]
        for (name, value) in try values(prefix) where name != unspecified {
            found[name.filter { $0 != "_" }] = value
        }
        let expected = words.allCases.map { word in
            // The protocol uses this spelling.
            ("\(word)".lowercased().replacing("gray", with: "grey"), Int(word.rawValue))
        }
        #expect(found == Dictionary(uniqueKeysWithValues: expected), "\(prefix)")
    }

    @Test func theWordsOfTheProtoFileAreThoseOfTheCode() throws {
        try agree("ERROR_CODE", ErrorCode.self, "unspecified")
        try agree("IMAGE_FORMAT", ImageFormat.self)
        try agree("RESIZE_MODE", ResizeMode.self)
        try agree("PRIORITY", Priority.self)
        try agree("WORKER_KIND", WorkerKind.self)
        try agree("ARENA", ArenaName.self)
        try agree("GOODBYE_REASON", GoodbyeReason.self)
        try agree("BANDS", PixelPlane.Bands.self, "unspecified")
        #expect(try values("DESTINATION") == ["results": 0, "staging": 1])
    }

    @Test func noMessageContainsItself() throws {
        let scalars: Set = [
            "string", "bytes", "bool", "double", "uint32", "uint64", "int64",
        ]
        var parts: [String: Set<String>] = [:]
        // Open braces; a oneof belongs to the enclosing message.
        var owners: [String] = []
        for line in try ProtocolText.read("imagebus.proto").lines {
            let words = line.split { " ;={}".contains($0) }.map(String.init)
            if line.contains("{"), !line.contains("}") {
                owners.append(words[0] == "oneof" ? try #require(owners.last) : words[1])
            }
            let field = words.first == "repeated" ? words.dropFirst() : words[...]
            if field.count >= 3, Int(field[field.startIndex + 2]) != nil, let type = field.first,
                let owner = owners.last, !scalars.contains(type)
            {
                parts[owner, default: []].insert(type)
            }
            if line.drop(while: { $0 == " " }).hasPrefix("}") { owners.removeLast() }
        }
        func reaches(_ goal: String, from name: String, _ seen: inout Set<String>) -> Bool {
            for part in parts[name] ?? [] where seen.insert(part).inserted {
                if part == goal || reaches(goal, from: part, &seen) { return true }
            }
            return false
        }
        #expect(parts["Step"] == ["Resize", "Rect", "Rotate", "Flip", "Overlay", "NamedStep"])
        #expect(parts.count > 10)
        for name in parts.keys {
            var seen: Set<String> = []
            #expect(!reaches(name, from: name, &seen), "\(name)")
        }
    }
}
