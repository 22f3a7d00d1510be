import Linux
package import MicroHTTPD
import Model
import WebGrammar

/// Which peers are trusted: only trusted proxies may specify the client, the trace and the request
/// ID of a request.
package struct EdgeSettings: Hashable, Sendable {
    /// The trusted proxies.
    package var trusted = TrustedNetworks()
    /// The field in which they name their clients. `X-Forwarded-For` and `Forwarded` are lists of
    /// addresses; the value of any other field is the client.
    package var clientField = "X-Forwarded-For"

    /// The number of addresses of a list that are examined.
    private static let addressesMax = 32
    /// The maximum length of a client's name in bytes; longer names are truncated.
    private static let clientBytesMax = 256

    /// Returns the client of a request: the peer, or the client named by a trusted proxy.
    ///
    /// In a list of addresses, the nearest proxy's entry comes last. The client is the last address
    /// that isn't a trusted proxy, because clients can forge anything before it.
    package func client(of peer: PeerAddress, _ field: (String) -> String?) -> String {
        guard trusted.contains(peer), let value = field(clientField), !value.isEmpty else {
            return peer.text
        }
        switch clientField.lowercased() {
        case "x-forwarded-for": return last(of: ForwardedAddresses.list(value), before: peer).text
        case "forwarded": return last(of: ForwardedAddresses.forwarded(value), before: peer).text
        default:
            let name = value.trimmedOfBlanks
            return name.isEmpty
                ? peer.text : String(decoding: name.utf8.prefix(Self.clientBytesMax), as: UTF8.self)
        }
    }

    private func last(of addresses: [Substring], before peer: PeerAddress) -> PeerAddress {
        var client = peer
        for text in addresses.reversed().prefix(Self.addressesMax) {
            guard let address = ForwardedAddresses.address(text) else { break }
            client = address
            guard trusted.contains(address) else { break }
        }
        return client
    }
}

/// The addresses of trusted proxies, which may specify client, trace and request ID.
package struct TrustedNetworks: Hashable, Sendable {
    /// A range of addresses with a common prefix.
    private struct Network: Hashable {
        let first: UInt128
        let mask: UInt128

        func contains(_ number: UInt128) -> Bool { number & mask == first }
    }

    private var networks: [Network] = []
    private var hasUnix = false

    /// The maximum number of networks and addresses.
    private static let countMax = 64

    /// Trusts no peers.
    init() {}

    /// Parses comma-separated networks such as `10.0.0.0/8,2001:db8::/32`, single addresses, and
    /// `unix` for peers on a Unix socket; returns `nil` for other texts.
    package init?(_ text: String) {
        let words = text.split(separator: ",", omittingEmptySubsequences: false)
            .map(\.trimmedOfBlanks)
        guard words.count <= Self.countMax else { return nil }
        for word in words {
            if word == "unix" {
                hasUnix = true
            } else {
                guard let network = Self.network(word) else { return nil }
                networks.append(network)
            }
        }
    }

    private static func network(_ text: Substring) -> Network? {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, let address = PeerAddress(text: parts[0]),
            case .ip(let number) = address
        else { return nil }
        let before = address.isIPv4 ? PeerAddress.mappedBits : 0
        var bits = 128
        if parts.count == 2 {
            guard let stated = PlainNumber.integer(String(parts[1])),
                (0...128 - before).contains(stated)
            else { return nil }
            bits = before + stated
        }
        let mask = bits == 0 ? 0 : UInt128.max << UInt128(128 - bits)
        return Network(first: number & mask, mask: mask)
    }

    /// Whether no peers are trusted.
    package var isEmpty: Bool { networks.isEmpty && !hasUnix }

    /// Whether peers with this address are trusted.
    package func contains(_ address: PeerAddress) -> Bool {
        switch address {
        case .unix: hasUnix
        case .ip(let number): networks.contains { $0.contains(number) }
        }
    }
}

/// Parses fields to which each proxy appends the address it received the request from.
enum ForwardedAddresses {
    /// Returns the entries of `X-Forwarded-For`, in order.
    static func list(_ text: String) -> [Substring] {
        text.split(separator: ",", omittingEmptySubsequences: false).map(\.trimmedOfBlanks)
    }

    /// Returns the entries of `Forwarded` (RFC 7239): the parameter `for` of each element; empty if
    /// it has none.
    static func forwarded(_ text: String) -> [Substring] {
        elements(of: text[...]).map { element in
            let values = parts(of: element, separator: ";").compactMap { parameter -> Substring? in
                guard let equals = parameter.firstIndex(of: "="),
                    parameter[..<equals].trimmedOfBlanks.lowercased() == "for"
                else { return nil }
                return unquoted(parameter[parameter.index(after: equals)...].trimmedOfBlanks)
            }
            return values.first ?? ""
        }
    }

    /// Returns the address in an element, ignoring a port; `nil` for `unknown` and obfuscated
    /// names.
    static func address(_ text: Substring) -> PeerAddress? {
        if text == "unix:" { return .unix }
        if text.first == "[" {
            return PeerAddress(text: text.dropFirst().prefix { $0 != "]" })
        }
        if let address = PeerAddress(text: text) { return address }
        let host = text.prefix { $0 != ":" }
        return host.endIndex == text.endIndex ? nil : PeerAddress(text: host)
    }

    /// Splits a list from its end: the nearest proxy's entry is well-formed, and an unbalanced
    /// quotation mark forged by a client before it must not swallow it.
    private static func elements(of text: Substring) -> [Substring] {
        var (elements, end, isQuoted) = ([Substring](), text.endIndex, false)
        for place in text.indices.reversed() {
            switch text[place] {
            case "\"" where !isEscaped(place, in: text): isQuoted.toggle()
            case "," where !isQuoted:
                elements.append(text[text.index(after: place)..<end])
                end = place
            default: break
            }
        }
        return (elements + [text[..<end]]).reversed()
    }

    /// Whether the character at an index is preceded by an odd number of backslashes.
    private static func isEscaped(_ place: Substring.Index, in text: Substring) -> Bool {
        !text[..<place].reversed().prefix { $0 == "\\" }.count.isMultiple(of: 2)
    }

    /// Splits a text at separators outside quotation marks.
    private static func parts(of text: Substring, separator: Character) -> [Substring] {
        var (parts, begin, isQuoted, isEscaped) = ([Substring](), text.startIndex, false, false)
        for place in text.indices {
            switch text[place] {
            case _ where isEscaped: isEscaped = false
            case "\\" where isQuoted: isEscaped = true
            case "\"": isQuoted.toggle()
            case separator where !isQuoted:
                parts.append(text[begin..<place])
                begin = text.index(after: place)
            default: break
            }
        }
        return parts + [text[begin...]]
    }

    private static func unquoted(_ text: Substring) -> Substring {
        guard text.count >= 2, text.first == "\"", text.last == "\"" else { return text }
        return text.dropFirst().dropLast()
    }
}

// The identifiers of a request in logs, both here and in the stack.
extension LogContext {
    fileprivate static let (requestField, traceField) = ("X-Request-Id", "traceparent")
    /// The names of the fields in requests and responses.
    static let fieldNames = [requestField, traceField]

    /// The fields of a response.
    var httpFields: HTTPFields {
        [Self.requestField: requestID?.text, Self.traceField: trace?.text]
    }

    /// An identifier and the number of a span, by one system call.
    fileprivate static var randomNumbers: (id: Identifier128, span: UInt64) {
        var words: (UInt64, UInt64, UInt64) = (0, 0, 0)
        withUnsafeMutableBytes(of: &words) { Random.fill($0) }
        return (Identifier128(high: words.0, low: words.1), words.2)
    }

    fileprivate static func randomTrace() -> TraceContext {
        let (id, span) = randomNumbers
        return TraceContext(trace: id, parent: span, flags: 0) ?? randomTrace()
    }
}

extension EdgeSettings {
    /// Returns the identifiers of a request: a trusted proxy's `X-Request-Id` and `traceparent` (W3C
    /// Trace Context), and random ones if they are missing or invalid. A random trace is not
    /// sampled.
    func ids(of peer: PeerAddress, _ field: (String) -> String?) -> LogContext {
        let isTrusted = trusted.contains(peer)
        let request = isTrusted ? field(LogContext.requestField) : nil
        let trace = isTrusted ? field(LogContext.traceField) : nil
        return LogContext(
            trace: trace.flatMap { TraceContext(text: $0) } ?? LogContext.randomTrace(),
            requestID: request.flatMap { RequestID(text: $0) }
                ?? RequestID(LogContext.randomNumbers.id))
    }
}
