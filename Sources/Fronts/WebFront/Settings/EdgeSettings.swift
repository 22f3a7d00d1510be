import ImageModel
import Linux
package import Messages
package import MicroHTTPD
import WebGrammar

/// What is believed of whom: proxies that are trusted say who their clients are, and which trace
/// and which request id a request has. Nobody else does.
package struct EdgeSettings: Hashable, Sendable {
    /// Proxies that are trusted.
    package var trusted = TrustedNetworks()
    /// The field in which they name their clients. `X-Forwarded-For` and `Forwarded` are lists of
    /// addresses; the value of any other field is the client.
    package var clientField = "X-Forwarded-For"

    package init() {}

    /// Addresses of a list that are looked at.
    private static let addressesMax = 32
    /// Bytes of a client's name; a longer one is cut.
    private static let clientBytesMax = 256

    /// The client of a request: the peer, or whom a trusted proxy names in its place.
    ///
    /// Of a list of addresses, whose end is what the nearest proxy wrote, it is the last one that
    /// is no trusted proxy's: a client may write what it likes before that.
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

/// The addresses of proxies that are believed: what they say of a client, a trace and a request id
/// counts.
package struct TrustedNetworks: Hashable, Sendable {
    /// Addresses with the same first bits.
    private struct Network: Hashable {
        let first: UInt128
        let mask: UInt128

        func contains(_ number: UInt128) -> Bool { number & mask == first }
    }

    private var networks: [Network] = []
    private var hasUnix = false

    /// Networks and addresses at most.
    private static let countMax = 64

    /// Nobody is believed.
    package init() {}

    /// Networks with commas between, such as `10.0.0.0/8,2001:db8::/32`, an address alone, or
    /// `unix` for those who connect to a Unix socket; `nil` for any other text.
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
            guard let said = PlainNumber.integer(String(parts[1])),
                (0...128 - before).contains(said)
            else { return nil }
            bits = before + said
        }
        let mask = bits == 0 ? 0 : UInt128.max << UInt128(128 - bits)
        return Network(first: number & mask, mask: mask)
    }

    /// Whether nobody is believed.
    package var isEmpty: Bool { networks.isEmpty && !hasUnix }

    /// Whether whoever has this address is believed.
    package func contains(_ address: PeerAddress) -> Bool {
        switch address {
        case .unix: hasUnix
        case .ip(let number): networks.contains { $0.contains(number) }
        }
    }
}

/// The addresses in a field to which each proxy appends the one that it was asked from.
enum ForwardedAddresses {
    /// Those of `X-Forwarded-For`, in the order of the field.
    static func list(_ text: String) -> [Substring] {
        text.split(separator: ",", omittingEmptySubsequences: false).map(\.trimmedOfBlanks)
    }

    /// Those of `Forwarded` (RFC 7239): the parameter `for` of each element, empty where it has
    /// none.
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

    /// The address of an element, behind which a port may stand; `nil` where it is `unknown` or a
    /// name that somebody made up.
    static func address(_ text: Substring) -> PeerAddress? {
        if text == "unix:" { return .unix }
        if text.first == "[" {
            return PeerAddress(text: text.dropFirst().prefix { $0 != "]" })
        }
        if let address = PeerAddress(text: text) { return address }
        let host = text.prefix { $0 != ":" }
        return host.endIndex == text.endIndex ? nil : PeerAddress(text: host)
    }

    /// The elements of a list, found from its end: what the nearest proxy wrote is well-formed, and
    /// a quotation mark that a client left open before it is not to swallow it.
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

    /// Whether an odd number of backslashes stands before a place.
    private static func isEscaped(_ place: Substring.Index, in text: Substring) -> Bool {
        !text[..<place].reversed().prefix { $0 == "\\" }.count.isMultiple(of: 2)
    }

    /// Parts between separators that stand outside quotation marks.
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

/// The names by which a request is found in logs, here and in the stack.
package struct RequestIDs: Hashable, Sendable {
    /// As a trusted proxy wrote it in `X-Request-Id`, or made here.
    package let request: RequestID
    /// As a trusted proxy wrote it in `traceparent` (W3C Trace Context), or made here; one that was
    /// made is not sampled.
    package let trace: TraceContext

    package init(_ request: RequestID, _ trace: TraceContext) {
        (self.request, self.trace) = (request, trace)
    }

    /// Names of the fields that have them, in requests and in answers.
    package static let (requestField, traceField) = ("X-Request-Id", "traceparent")
    package static let fieldNames = [requestField, traceField]

    /// What the load of the request says in logs.
    package var logContext: LogContext { LogContext(trace: trace, requestID: request) }

    /// The fields of an answer.
    package var fields: [AnswerHead.Field] {
        [
            AnswerHead.Field(Self.requestField, request.text),
            AnswerHead.Field(Self.traceField, trace.text),
        ]
    }
}

extension EdgeSettings {
    /// The names of a request: those that a trusted proxy gives it, and others where it gives none
    /// or none that can be used.
    package func ids(
        of peer: PeerAddress, _ field: (String) -> String?, orMadeOf random: inout IDSource
    ) -> RequestIDs {
        let isTrusted = trusted.contains(peer)
        let request =
            isTrusted ? field(RequestIDs.requestField).flatMap { RequestID(text: $0) } : nil
        let trace =
            isTrusted ? field(RequestIDs.traceField).flatMap { TraceContext(text: $0) } : nil
        return RequestIDs(request ?? random.request(), trace ?? random.trace())
    }
}

/// Makes names of requests and traces that nobody can guess, of random numbers of the kernel,
/// which are fetched many at a time.
package struct IDSource: Sendable {
    private var words: [UInt64] = []
    private static let wordsMax = 256

    package init() {}

    /// A new request id.
    package mutating func request() -> RequestID { RequestID(identifier()) }

    /// A new trace, which nobody records.
    package mutating func trace() -> TraceContext {
        while true {
            if let trace = TraceContext(trace: identifier(), parent: word(), flags: 0) {
                return trace
            }
        }
    }

    private mutating func identifier() -> Identifier128 {
        Identifier128(high: word(), low: word())
    }

    private mutating func word() -> UInt64 {
        if words.isEmpty {
            words = [UInt64](unsafeUninitializedCapacity: Self.wordsMax) { words, count in
                Random.fill(UnsafeMutableRawBufferPointer(words))
                count = Self.wordsMax
            }
        }
        return words.removeLast()
    }
}
