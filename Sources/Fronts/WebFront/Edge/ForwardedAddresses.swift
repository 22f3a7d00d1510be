import MicroHTTPD
import WebGrammar

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
