/// Limits of one request, checked at admission (PROTOCOL §7, SEMANTICS §9.7).
public enum RequestLimits {
    /// The maximum number of bytes of a URL.
    public static let urlBytesMax = 8 * 1024
    /// The maximum number of headers.
    public static let headersMax = 64
    /// The maximum number of bytes of all headers together.
    public static let headerBytesMax = 16 * 1024
    /// The maximum number of bytes of a name: of a profile, cache, loader, filter, serializer,
    /// preset or slot.
    public static let nameBytesMax = 128
    /// The maximum number of bytes of the value of an option without a field of its own.
    public static let otherOptionBytesMax = 1024
    /// The maximum number of URLs in one prefetch.
    public static let prefetchMax = 100_000
    /// The default number of concurrent loads of a prefetch, as in SDWebImage.
    public static let prefetchConcurrency = 3
    /// The maximum number of concurrent loads of a prefetch.
    public static let prefetchConcurrencyMax = 64
    /// The upper bound of the frame index of an animation.
    public static let framesMax = 100_000
    /// The maximum number of steps.
    public static let stepsMax = 32
    /// The maximum number of overlay steps.
    public static let overlaysMax = 4
    /// The maximum number of parameters of a step identified by name on the wire.
    public static let parametersMax = 16
    /// The maximum number of bytes of a parameter value.
    public static let parameterBytesMax = 256
    /// The valid pixel ratios.
    public static let pixelRatios = 0.1...10.0
    /// The maximum side length of a step's box, in pixels.
    public static let sideMax = 32_767
    /// The maximum number of pixels of an image at any step.
    public static let pixelsMax = 268_435_456
    /// The maximum byte limit of a scale-down step.
    public static let scaleDownBytesMax = 4 * pixelsMax
    /// The default byte limit to which large images are scaled down, as in SDWebImage: 60 MiB.
    public static let scaleDownBytes = 60 << 20
    /// The longest timeout in milliseconds: one hour.
    public static let timeoutMillisecondsMax = 3_600_000
}

/// A limit of images that an operator sets: globally by an option of `serve`, and more strictly by
/// profiles and rules of the configuration (SEMANTICS §9.8). The same name is used in all these
/// contexts and in errors.
public enum LimitSetting: String, Hashable, Sendable, CaseIterable {
    /// Columns × rows of an image, or of each frame, as decoded.
    case pixels = "pixel-limit"
    /// Columns or rows of the decoded image.
    case side = "side-limit"
    /// Bytes of a fetched or uploaded body.
    case body = "body-limit"
    /// Pages or frames of a file.
    case pages = "page-limit"
    /// Bytes of profile, EXIF, XMP and other texts in a file.
    case metadata = "metadata-limit"

    /// The valid range. Decoders enforce the upper bound independently of the configuration.
    public var range: ClosedRange<Int> {
        switch self {
        case .pixels: 1...RequestLimits.pixelsMax
        case .side: 1...65_535
        case .body: 1...256 << 20
        case .pages: 1...100_000
        case .metadata: 1...64 << 20
        }
    }

    /// Whether the limit counts bytes, so that K, M and G are multiples of 1,024.
    public var countsBytes: Bool {
        switch self {
        case .body, .metadata: true
        case .pixels, .side, .pages: false
        }
    }

    /// Parses an integer in the range, optionally followed by K, M or G; returns `nil` for anything
    /// else.
    public func value(of text: String) -> Int? {
        guard let value = PlainNumber.scaled(text, by: countsBytes ? 1_024 : 1_000) else {
            return nil
        }
        return range.contains(value) ? value : nil
    }

    /// The description of a valid text, for errors.
    public var expected: String {
        "a number\(countsBytes ? " of bytes" : "") from 1 to \(range.upperBound), such as "
            + (self == .side || self == .pages ? "10000" : "50M")
    }
}

/// Limits set by a profile and the rules of a configuration; none by default.
public struct LimitSettings: Hashable, Sendable {
    /// `nil` if nothing is set, as in most requests; keys contain this value and are copied and
    /// hashed often.
    private var values: Values?

    private final class Values: Hashable, Sendable {
        let bySetting: [LimitSetting: Int]

        init(_ bySetting: [LimitSetting: Int]) { self.bySetting = bySetting }

        static func == (left: Values, right: Values) -> Bool {
            left === right || left.bySetting == right.bySetting
        }

        func hash(into hasher: inout Hasher) { hasher.combine(bySetting) }
    }

    /// Creates settings without limits.
    public init() {}

    private init(_ bySetting: [LimitSetting: Int]) {
        values = bySetting.isEmpty ? nil : Values(bySetting)
    }

    /// The value of a limit; `nil` if unset.
    public subscript(setting: LimitSetting) -> Int? {
        get { values?.bySetting[setting] }
        set {
            var others = values?.bySetting ?? [:]
            others[setting] = newValue
            self = LimitSettings(others)
        }
    }

    /// Merges other settings, which take precedence.
    public mutating func merge(_ others: LimitSettings) {
        guard let set = others.values else { return }
        self = LimitSettings((values?.bySetting ?? [:]).merging(set.bySetting) { $1 })
    }

    /// Returns the stricter of `limit` and the setting, so that settings never exceed the limits of
    /// the process.
    public func narrowed(_ limit: Int, by setting: LimitSetting) -> Int {
        min(limit, self[setting] ?? limit)
    }

    /// The limits that affect pixels, that is, all but the body limit.
    public var ofPixels: LimitSettings {
        guard values != nil else { return self }
        var others = self
        others[.body] = nil
        return others
    }
}
