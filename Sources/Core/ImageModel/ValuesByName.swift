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
