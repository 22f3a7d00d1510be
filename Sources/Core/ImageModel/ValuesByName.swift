extension ResizeMode {
    /// Such as `fit` or `fit-turned`: the word on the command line and in configurations.
    public var name: String {
        switch self {
        case .fit: "fit"
        case .fill: "fill"
        case .stretch: "stretch"
        case .letterbox: "letterbox"
        case .cover: "cover"
        case .auto: "auto"
        case .fitTurned: "fit-turned"
        case .coverTurned: "cover-turned"
        case .reshape: "reshape"
        }
    }

    /// In the order of the help.
    package static let named: [(name: String, value: ResizeMode)] =
        ([.fit, .fill, .stretch, .letterbox, .cover, .auto, .fitTurned, .coverTurned, .reshape]
        as [ResizeMode]).map { ($0.name, $0) }

    /// The mode of that word; `nil` for other words.
    package init?(name: String) {
        guard let found = Self.named.first(where: { $0.name == name }) else { return nil }
        self = found.value
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
