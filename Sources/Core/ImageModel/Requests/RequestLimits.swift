/// Limits of one request, checked at admission (PROTOCOL §7, SEMANTICS §9.7).
public enum RequestLimits {
    /// Bytes of a URL.
    public static let urlBytesMax = 8 * 1024
    /// Headers of a request.
    public static let headersMax = 64
    /// Bytes of all headers together.
    public static let headerBytesMax = 16 * 1024
    /// Bytes of a name: of a profile, cache, loader, filter, serializer, preset or slot.
    public static let nameBytesMax = 128
    /// Options without a field of their own in one context, and bytes of each value.
    public static let otherOptionsMax = 32
    /// See `otherOptionsMax`.
    public static let otherOptionBytesMax = 1024
    /// URLs of one prefetch.
    public static let prefetchMax = 100_000
    /// URLs of a prefetch that are loaded at a time where nobody says how many, as upstream.
    public static let prefetchConcurrency = 3
    /// URLs of a prefetch that are loaded at a time at most.
    public static let prefetchConcurrencyMax = 64
    /// Frames of an animation that can be asked for.
    public static let framesMax = 100_000
    /// Steps of a request.
    public static let stepsMax = 32
    /// Steps of a request that lay another image over its own.
    public static let overlaysMax = 4
    /// Parameters of a step that has a name on the wire.
    public static let parametersMax = 16
    /// Bytes of the value of one.
    public static let parameterBytesMax = 256
    /// Pixels for each pixel of the steps.
    public static let pixelRatios = 0.1...10.0
    /// Pixels on one side of a step's box.
    public static let sideMax = 32_767
    /// Pixels of one image at any step.
    public static let pixelsMax = 268_435_456
    /// Bytes of pixels that a step may scale down to at most.
    public static let scaleDownBytesMax = 4 * pixelsMax
    /// Bytes of pixels to which large images are scaled down where nobody says how many, as
    /// upstream: 60 MiB.
    public static let scaleDownBytes = 60 << 20
    /// Milliseconds of the longest deadline: one hour.
    public static let timeoutMillisecondsMax = 3_600_000
}

/// A limit of images that an operator sets: for all of them by an option of `serve`, for some by
/// profiles and rules of the configuration, which make it narrower (SEMANTICS §9.8). One word names
/// it in all these places, and in errors.
public enum LimitSetting: String, Hashable, Sendable, CaseIterable {
    /// Columns × rows of an image, or of each frame, as it is decoded.
    case pixels = "pixel-limit"
    /// Columns or rows of what is decoded.
    case side = "side-limit"
    /// Bytes of a fetched or uploaded body.
    case body = "body-limit"
    /// Pages or frames of a file.
    case pages = "page-limit"
    /// Bytes of profile, EXIF, XMP and other texts of a file.
    case metadata = "metadata-limit"

    /// What it may be. A decoder holds to the upper end whatever it is told.
    public var range: ClosedRange<Int> {
        switch self {
        case .pixels: 1...RequestLimits.pixelsMax
        case .side: 1...65_535
        case .body: 1...256 << 20
        case .pages: 1...100_000
        case .metadata: 1...64 << 20
        }
    }

    /// Whether it counts bytes, so that K, M and G are multiples of 1,024.
    public var countsBytes: Bool {
        switch self {
        case .body, .metadata: true
        case .pixels, .side, .pages: false
        }
    }

    /// The value of a text: a whole number, also with K, M or G behind it, in the range; `nil` for
    /// anything else.
    public func value(of text: String) -> Int? {
        guard let value = PlainNumber.scaled(text, by: countsBytes ? 1_024 : 1_000) else {
            return nil
        }
        return range.contains(value) ? value : nil
    }

    /// What a text of it is, for errors.
    public var expected: String {
        "a number\(countsBytes ? " of bytes" : "") from 1 to \(range.upperBound), such as "
            + (self == .side || self == .pages ? "10000" : "50M")
    }
}

/// Limits that a profile and the rules of a configuration set; none by default.
public struct LimitSettings: Hashable, Sendable {
    /// `nil` where nothing is set, as of most requests: keys have it and are copied and hashed.
    private var values: Values?

    private final class Values: Hashable, Sendable {
        let bySetting: [LimitSetting: Int]

        init(_ bySetting: [LimitSetting: Int]) { self.bySetting = bySetting }

        static func == (left: Values, right: Values) -> Bool {
            left === right || left.bySetting == right.bySetting
        }

        func hash(into hasher: inout Hasher) { hasher.combine(bySetting) }
    }

    /// Sets nothing.
    public init() {}

    private init(_ bySetting: [LimitSetting: Int]) {
        values = bySetting.isEmpty ? nil : Values(bySetting)
    }

    /// What it is set to; `nil` where it is not.
    public subscript(setting: LimitSetting) -> Int? {
        get { values?.bySetting[setting] }
        set {
            var others = values?.bySetting ?? [:]
            others[setting] = newValue
            self = LimitSettings(others)
        }
    }

    /// Takes over all that others set.
    public mutating func merge(_ others: LimitSettings) {
        guard let set = others.values else { return }
        self = LimitSettings((values?.bySetting ?? [:]).merging(set.bySetting) { $1 })
    }

    /// `limit`, or what is set where that is less: nobody makes a limit wider than the process has.
    public func narrowed(_ limit: Int, by setting: LimitSetting) -> Int {
        min(limit, self[setting] ?? limit)
    }

    /// The same without that of bodies: what decides about pixels.
    public var ofPixels: LimitSettings {
        guard values != nil else { return self }
        var others = self
        others[.body] = nil
        return others
    }
}
