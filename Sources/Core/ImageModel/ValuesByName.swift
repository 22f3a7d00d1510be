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
            let digits = text.dropFirst()
            // A sign is no digit, though `UInt32` takes one.
            guard [6, 8].contains(digits.utf8.count), digits.first != "+", digits.first != "-",
                let number = UInt32(digits, radix: 16)
            else { return nil }
            let argb = digits.utf8.count == 6 ? 0xFF00_0000 | number : number
            self = .colour(Colour(argb: argb))
        } else {
            guard let url = try? SourceURL(text), ["http", "https"].contains(url.scheme) else {
                return nil
            }
            self = .url(text)
        }
    }
}

extension TransformStep {
    /// A mirroring by `h`, `v` or `hv`; `nil` for other words.
    public static func flip(named name: String) -> TransformStep? {
        switch name {
        case "h": .flip(horizontal: true, vertical: false)
        case "v": .flip(horizontal: false, vertical: true)
        case "hv": .flip(horizontal: true, vertical: true)
        default: nil
        }
    }

    /// A turn by degrees clockwise; `nil` for what is no angle.
    public static func rotate(degrees text: String) -> TransformStep? {
        guard let degrees = PlainNumber.decimal(text), abs(degrees) <= 360_000 else { return nil }
        return .rotate(Rotation(degreesClockwise: degrees))
    }
}

extension Overlay {
    /// `URL`, `URL,X,Y` or `URL,X,Y,OPACITY`; `nil` for anything else. Numbers are read from the
    /// end, so that a URL may have commas; one that ends like such numbers is given all three.
    public init?(_ text: String) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        let places = -RequestLimits.sideMax...RequestLimits.sideMax
        func place(_ part: Substring) -> Int? {
            PlainNumber.integer(part).flatMap { places.contains($0) ? $0 : nil }
        }
        func overlay(_ count: Int, opacity: Double) -> Overlay? {
            guard parts.count > count, let x = place(parts[parts.count - count]),
                let y = place(parts[parts.count - count + 1])
            else { return nil }
            let url = parts.dropLast(count).joined(separator: ",")
            return Overlay(url: url, x: x, y: y, opacity: opacity)
        }
        let last = parts.last.flatMap { PlainNumber.decimal(String($0)) }
        let opacity = last.flatMap { (0...1).contains($0) ? $0 : nil }
        self =
            opacity.flatMap { overlay(3, opacity: $0) } ?? overlay(2, opacity: 1)
            ?? Overlay(url: text)
        guard let url = try? SourceURL(url), ["http", "https"].contains(url.scheme) else {
            return nil
        }
    }
}
