extension ResizeMode {
    /// `fit`, `fill`, `stretch` or `letterbox`: the word on the command line and in configurations.
    public var name: String {
        switch self {
        case .fit: "fit"
        case .fill: "fill"
        case .stretch: "stretch"
        case .letterbox: "letterbox"
        }
    }
}

extension CacheTypes {
    /// `none`, `disk`, `memory` or `all`; `nil` for other words.
    public init?(name: String) {
        let all: [CacheTypes] = [.none, .disk, .memory, .all]
        guard let found = all.first(where: { $0.name == name }) else { return nil }
        self = found
    }
}

extension Fallback {
    /// `none`, an http or https URL, or a colour `#AARRGGBB` or, opaque, `#RRGGBB`; `nil` for
    /// anything else.
    public init?(_ text: String) {
        if text == "none" {
            self = .none
        } else if text.utf8.first == UInt8(ascii: "#") {
            guard let colour = Colour(text) else { return nil }
            self = .colour(colour)
        } else {
            guard let url = try? SourceURL(text), ["http", "https"].contains(url.scheme) else {
                return nil
            }
            self = .url(text)
        }
    }
}

extension Overlay {
    /// `URL`, `URL,X,Y` or `URL,X,Y,OPACITY` with an http or https URL without user info; `nil` for
    /// anything else, numbers out of range included.
    ///
    /// A URL may have commas. How many parts behind the last ones of it read as numbers decides:
    /// with none the text is the URL, with two they are X and Y, with three or more the last three
    /// are X, Y and OPACITY; with one nobody knows what is meant. So a URL that ends in a comma and
    /// a number is given all three.
    public init?(_ text: String) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        let count = min(3, parts.dropFirst().reversed().prefix(while: Self.readsAsNumber).count)
        let url = parts.dropLast(count).joined(separator: ",")
        let numbers = parts.suffix(count).map { String($0) }
        guard count != 1,
            let parsed = try? SourceURL(url), ["http", "https"].contains(parsed.scheme),
            parsed.userInfo == nil
        else { return nil }
        guard count > 0 else {
            self.init(url: url)
            return
        }
        guard let x = Self.place(numbers[0]), let y = Self.place(numbers[1]),
            let opacity = count > 2 ? PlainNumber.decimal(numbers[2]) : 1,
            (0...1).contains(opacity)
        else { return nil }
        self.init(url: url, x: x, y: y, opacity: opacity)
    }

    /// Digits, points, signs and the letter of an exponent, which is not the first of them; whether
    /// it is one is asked later.
    private static func readsAsNumber(_ part: Substring) -> Bool {
        let letters = Set("eE".utf8)
        let others = Set("0123456789.-+".utf8)
        return part.utf8.first.map(others.contains) == true
            && part.utf8.allSatisfy { letters.contains($0) || others.contains($0) }
    }

    private static func place(_ text: String) -> Int? {
        PlainNumber.integer(text).flatMap {
            (-RequestLimits.sideMax...RequestLimits.sideMax).contains($0) ? $0 : nil
        }
    }
}
