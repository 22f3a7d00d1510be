public import ImageModel

/// Which URLs: `https://*.example.com/avatars/*`.
///
/// `*` stands for any text within the part where it is: scheme, host with port, or what follows, so
/// that no path passes for a host. Scheme and host have no case, the rest has. A port that is the
/// scheme's own may be left out on either side. Paths are compared without `.` and `..`, in every
/// way in which an origin may read them (`PathReading`): a pattern means a URL only if it means all
/// of its readings. Without a path a pattern means all of them; `*` alone means every URL.
public struct URLPattern: Hashable, Sendable {
    /// As it was written.
    public let text: String
    private let scheme: Glob
    private let authority: Glob
    /// Path and query, one for each form of `PathReading`.
    private let rests: [PathReading.Form: Glob]

    /// Bytes of a pattern.
    public static let bytesMax = 1_024

    /// `nil` for what is no pattern: too long, with spaces, user info or a fragment, or without a
    /// scheme or host, which `file:///photos/*` has none of. `data:*` means all that have no parts.
    public init?(_ text: String) {
        guard !text.isEmpty, text.utf8.count <= Self.bytesMax,
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") })
        else { return nil }
        self.text = text
        if text == "*" {
            (scheme, authority, rests) = (Glob("*"), Glob("*"), Self.rests("*"))
            return
        }
        if text.lowercased() == "data:*" {
            (scheme, authority, rests) = (Glob("data"), Glob("*"), Self.rests("*"))
            return
        }
        guard let mark = text.firstRange(of: "://") else { return nil }
        let scheme = text[..<mark.lowerBound].lowercased()
        let behind = text[mark.upperBound...]
        let end = behind.firstIndex { $0 == "/" || $0 == "?" } ?? behind.endIndex
        let authority = behind[..<end].lowercased()
        guard !scheme.isEmpty, !authority.isEmpty || ["file", "local"].contains(scheme),
            !authority.contains("@")
        else { return nil }
        self.scheme = Glob(scheme)
        self.authority = Glob(URLTarget.withoutOwnPort(authority, of: scheme))
        rests = Self.rests(end == behind.endIndex ? "/*" : behind[end...])
    }

    private static func rests(_ text: Substring) -> [PathReading.Form: Glob] {
        let path = text.prefix { $0 != "?" }
        return Dictionary(
            uniqueKeysWithValues: PathReading.Form.allCases.map {
                ($0, Glob($0.applied(to: path) + text[path.endIndex...]))
            })
    }

    /// Whether an allow-list of patterns has a URL.
    public static func permits(_ url: SourceURL, _ patterns: [URLPattern]) -> Bool {
        permits(URLTarget(url), patterns)
    }

    /// The same of a URL that was taken apart before.
    static func permits(_ target: URLTarget, _ patterns: [URLPattern]) -> Bool {
        target.isPlain && patterns.contains { $0.matches(target) }
    }

    /// The host with its port, where the pattern is of one https host; `nil`: of several, or of
    /// other schemes.
    public var secureHost: String? {
        let scheme = "https://"
        guard text.lowercased().hasPrefix(scheme) else { return nil }
        let host = text.dropFirst(scheme.count).prefix { !"/?".contains($0) }.lowercased()
        return host.isEmpty || host.contains("*") ? nil : host
    }

    /// Whether a URL is meant.
    func matches(_ target: URLTarget) -> Bool {
        isOfPlace(target) && target.rests.allSatisfy(matches)
    }

    /// Whether it depends on how the origin reads the path whether a URL is meant.
    func isInDoubt(_ target: URLTarget) -> Bool {
        target.rests.count > 1 && isOfPlace(target) && target.rests.contains(where: matches)
            && !target.rests.allSatisfy(matches)
    }

    private func isOfPlace(_ target: URLTarget) -> Bool {
        scheme.matches(target.scheme.utf8) && authority.matches(target.authority.utf8)
    }

    private func matches(_ rest: URLTarget.Rest) -> Bool {
        rests[rest.form]?.matches(rest.text.utf8) ?? false
    }
}

/// A URL in the parts that patterns are compared with.
struct URLTarget {
    /// Lower case.
    let scheme: String
    /// Host and port in lower case, without user info and without the scheme's own port.
    let authority: String
    /// Path and query, in each way in which an origin may read the path.
    let rests: [Rest]
    /// Whether the host is written as hosts are, and the path as paths are; such a URL may be let
    /// through, others may not.
    let isPlain: Bool

    /// One reading of the path, and the query.
    struct Rest {
        let text: String
        let form: PathReading.Form
    }

    init(_ url: SourceURL) {
        scheme = url.scheme
        let text = url.withoutUserInfo
        guard text.utf8.dropFirst(scheme.utf8.count).starts(with: "://".utf8) else {
            // Without an authority it has no parts that could be compared.
            (authority, rests, isPlain) = ("", [Rest(text: "/", form: .written)], true)
            return
        }
        let behind = text[text.utf8.index(text.startIndex, offsetBy: scheme.utf8.count + 3)...]
        let end = behind.firstIndex { "/?#".contains($0) } ?? behind.endIndex
        authority = Self.withoutOwnPort(behind[..<end].lowercased(), of: scheme)
        let rest = behind[end...].prefix { $0 != "#" }
        let pathEnd = rest.firstIndex(of: "?") ?? rest.endIndex
        rests = PathReading.all(of: rest[..<pathEnd]).map {
            Rest(text: $0.path + rest[pathEnd...], form: $0.form)
        }
        isPlain =
            !PathReading.isUnreadable(rest[..<pathEnd])
            && authority.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x61...0x7A, 0x2D, 0x2E, 0x3A, 0x5B, 0x5D, 0x5F: true
                default: false
                }
            }
    }

    static func withoutOwnPort(_ authority: String, of scheme: String) -> String {
        let own = ["http": ":80", "https": ":443"][scheme] ?? ":"
        for port in [own, ":"] where authority.hasSuffix(port) {
            return String(authority.dropLast(port.count))
        }
        return authority
    }
}

extension ImageError {
    /// A rule or a loader holds for one reading of the path and not for another.
    static let ambiguousPath = ImageError(
        .invalidURL,
        "origins may read the path of this URL in several ways, and the configuration holds for "
            + "some of them: write it without encoded slashes, '//', backslashes and '..;'")
}

/// A text in which `*` stands for any bytes, none included. Matching takes time in proportion to
/// the text and the pattern, whatever they are.
struct Glob: Hashable, Sendable {
    private let pieces: [Piece]

    /// What stands between two `*`, with the table of Knuth, Morris and Pratt.
    private struct Piece: Hashable, Sendable {
        let bytes: [UInt8]
        let borders: [Int]

        init(_ bytes: [UInt8]) {
            self.bytes = bytes
            var borders = [Int](repeating: 0, count: bytes.count)
            var length = 0
            for index in bytes.indices.dropFirst() {
                while length > 0, bytes[index] != bytes[length] { length = borders[length - 1] }
                if bytes[index] == bytes[length] { length += 1 }
                borders[index] = length
            }
            self.borders = borders
        }

        /// The end of the first place of the piece in `text`.
        func firstEnd(in text: ArraySlice<UInt8>) -> Int? {
            if bytes.isEmpty { return text.startIndex }
            var length = 0
            for index in text.indices {
                while length > 0, text[index] != bytes[length] { length = borders[length - 1] }
                if text[index] == bytes[length] { length += 1 }
                if length == bytes.count { return index + 1 }
            }
            return nil
        }
    }

    init(_ text: String) {
        pieces = Array(text.utf8).split(
            separator: UInt8(ascii: "*"), omittingEmptySubsequences: false
        ).map { Piece(Array($0)) }
    }

    func matches(_ text: some Collection<UInt8>) -> Bool {
        let bytes = Array(text)
        guard let first = pieces.first, let last = pieces.last else { return bytes.isEmpty }
        guard pieces.count > 1 else { return bytes == first.bytes }
        guard bytes.count >= first.bytes.count + last.bytes.count,
            bytes.starts(with: first.bytes), bytes.suffix(last.bytes.count) == last.bytes[...]
        else { return false }
        var rest = bytes[first.bytes.count..<(bytes.count - last.bytes.count)]
        for piece in pieces.dropFirst().dropLast() {
            guard let end = piece.firstEnd(in: rest) else { return false }
            rest = rest[end...]
        }
        return true
    }
}
