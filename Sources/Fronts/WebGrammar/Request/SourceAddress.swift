import ImageModel

/// Which sources a grammar takes. Whether one may be reached is for the stack.
public struct SourceSchemes: Hashable, Sendable {
    /// Those that are taken, in lower case.
    public let names: Set<String>

    /// Those of the loaders that the stack has.
    public static let usual = SourceSchemes(["http", "https", "s3", "gs", "data", "file", "local"])

    /// Exactly these.
    public init(_ names: Set<String>) { self.names = Set(names.map { $0.lowercased() }) }

    /// The same with those of the operator's own loaders, such as `photos`.
    public func adding(_ others: [String]) -> SourceSchemes {
        SourceSchemes(names.union(others))
    }

    /// The URL of bytes that were decoded once: a host beyond ASCII becomes that of DNS, what a URL
    /// cannot hold is encoded again, all else stays as it is.
    func url(_ bytes: [UInt8]) throws(GrammarError) -> String {
        let text = try Self.anyURL(bytes)
        let scheme = text.prefix { $0 != ":" }.lowercased()
        guard names.contains(scheme) else { throw Self.refused(scheme) }
        return text
    }

    /// The same of a URL of any scheme.
    package static func anyURL(_ bytes: [UInt8]) throws(GrammarError) -> String {
        guard !bytes.isEmpty else {
            throw GrammarError(.malformed, "the URL of the source is empty: name one")
        }
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw GrammarError(.malformed, "the URL of the source has control characters")
        }
        let text = PercentCoding.encode(withCodes(try HostName.ascii(hostOf: bytes))) {
            (0x21...0x7E).contains($0) && !excluded.contains($0)
        }
        do throws(ImageError) {
            _ = try SourceURL(text)
        } catch {
            throw GrammarError(.malformed, "the source is refused: \(error.message)")
        }
        return text
    }

    /// Visible characters that no URL has (RFC 3986, appendix A).
    private static let excluded = Set("\"<>\\^`{|}".utf8)

    /// A percent sign that begins no code is encoded itself.
    private static func withCodes(_ bytes: [UInt8]) -> [UInt8] {
        let percent = UInt8(ascii: "%")
        guard bytes.contains(percent) else { return bytes }
        return bytes.indices.flatMap { index in
            let code = bytes[(index + 1)...].prefix(2)
            let isCode =
                code.count == 2
                && code.allSatisfy { Character(UnicodeScalar($0)).hexDigitValue != nil }
            return bytes[index] == percent && !isCode ? Array("%25".utf8) : [bytes[index]]
        }
    }

    private static func refused(_ scheme: String) -> GrammarError {
        GrammarError(
            .malformed,
            "the source is refused: the scheme \(scheme.prefix(20)) is not accepted here: use "
                + "another")
    }
}
