/// What is delivered instead of an image that cannot be loaded; never stored under its key
/// (PROTOCOL §8.7).
public enum Fallback: Hashable, Sendable {
    /// The error, whatever the configuration says.
    case none
    /// Another URL, loaded by a request of its own with none of the credentials.
    case url(String)
    /// An image of one colour, in the size of the result.
    case colour(Colour)
}

/// A colour: eight bits each, not premultiplied.
public struct Colour: Hashable, Sendable {
    /// `0xAARRGGBB`.
    public let argb: UInt32

    /// Takes `0xAARRGGBB`.
    public init(argb: UInt32) { self.argb = argb }

    /// Red, 0 to 255.
    public var red: UInt8 { UInt8(truncatingIfNeeded: argb >> 16) }
    /// Green, 0 to 255.
    public var green: UInt8 { UInt8(truncatingIfNeeded: argb >> 8) }
    /// Blue, 0 to 255.
    public var blue: UInt8 { UInt8(truncatingIfNeeded: argb) }
    /// Alpha, 0 to 255.
    public var alpha: UInt8 { UInt8(truncatingIfNeeded: argb >> 24) }
}

extension Colour: CustomStringConvertible {
    /// `AARRGGBB`
    public var description: String {
        let digits = String(argb, radix: 16, uppercase: true)
        return String(repeating: "0", count: 8 - digits.utf8.count) + digits
    }
}

extension Colour {
    /// `#AARRGGBB` or, opaque, `#RRGGBB`; `nil` for anything else.
    public init?(_ text: String) {
        let digits = text.dropFirst()
        // A sign is no digit, though `UInt32` takes one.
        guard text.utf8.first == UInt8(ascii: "#"), [6, 8].contains(digits.utf8.count),
            digits.first != "+", digits.first != "-", let number = UInt32(digits, radix: 16)
        else { return nil }
        self.init(argb: digits.utf8.count == 6 ? 0xFF00_0000 | number : number)
    }

    /// `#aarrggbb`, as upstream writes it in keys.
    package var hexText: String { "#\(description.lowercased())" }

    /// Nothing to be seen.
    public static let clear = Colour(argb: 0)
    /// Opaque white.
    public static let white = Colour(argb: 0xFFFF_FFFF)
}

/// What is delivered where a load fails: a load of its own, under the same profile. It is resolved
/// only then, since hardly ever a load fails.
public indirect enum PreparedFallback: Hashable, Sendable {
    /// The error.
    case none
    /// An image of one colour.
    case colour(Colour)
    /// Another load, which is resolved like any when it is begun.
    case load(ImageRequest)

    /// Of a request without a configuration.
    public init(_ fallback: Fallback?, of request: ImageRequest) {
        switch fallback {
        case nil, .some(.none): self = .none
        case .colour(let colour): self = .colour(colour)
        case .url(let url): self = .load(request.loading(fallback: url))
        }
    }
}

extension ImageRequest {
    /// The same with another URL: its steps, output, tiers and class, and nothing that was said to
    /// one origin only, nor what was laid over the image, which may be what failed. What is wished
    /// of the image (to be loaded anew, to be refreshed, to be tried although it failed before) is
    /// not wished of its fallback; and that has none of its own.
    public func loading(fallback url: String) -> ImageRequest {
        var image = self
        image.url = url
        image.headers = []
        image.context.key = nil
        image.context.fallback = nil
        image.steps.removeAll { $0.overlay != nil }
        image.options.subtract(.ofImageOnly)
        return image
    }
}

extension RequestOptions {
    /// What is wished of an image, and not of the fallback in its place.
    public static let ofImageOnly: RequestOptions = [
        .refreshCached, .fromLoaderOnly, .retryFailed, .respectCacheControl,
    ]
}
