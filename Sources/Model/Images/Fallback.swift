/// The substitute for an image that cannot be loaded; never stored under the image's key
/// (PROTOCOL §8.7).
public enum Fallback: Hashable, Sendable {
    /// Return the error even if the configuration sets a fallback.
    case none
    /// Another URL, loaded by a separate request without the credentials of this one.
    case url(String)
    /// An image of one color in the size of the result.
    case color(Color)
}

/// A color with eight bits per channel, not premultiplied.
public struct Color: Hashable, Sendable {
    /// `0xAARRGGBB`.
    public let argb: UInt32

    /// Creates a color from `0xAARRGGBB`.
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

extension Color: CustomStringConvertible {
    /// `AARRGGBB`
    public var description: String {
        let digits = String(argb, radix: 16, uppercase: true)
        return String(repeating: "0", count: 8 - digits.utf8.count) + digits
    }
}

extension Color {
    /// Parses `#AARRGGBB` or, if opaque, `#RRGGBB`; returns `nil` for anything else.
    public init?(_ text: String) {
        let digits = text.dropFirst()
        // `UInt32` accepts a sign, so check that the first character is a digit.
        guard text.utf8.first == UInt8(ascii: "#"), [6, 8].contains(digits.utf8.count),
            digits.first != "+", digits.first != "-", let number = UInt32(digits, radix: 16)
        else { return nil }
        self.init(argb: digits.utf8.count == 6 ? 0xFF00_0000 | number : number)
    }

    /// `#aarrggbb`, the spelling SDWebImage uses in keys.
    package var hexText: String { "#\(description.lowercased())" }

    /// Fully transparent.
    public static let clear = Color(argb: 0)
    /// Opaque white.
    public static let white = Color(argb: 0xFFFF_FFFF)
}

/// The substitute to deliver if a load fails. A fallback load runs as a separate request under the
/// same profile. It is resolved only on failure because loads rarely fail.
public indirect enum PreparedFallback: Hashable, Sendable {
    /// Deliver the error.
    case none
    /// An image of one color.
    case color(Color)
    /// Another load, which is resolved like any other when it starts.
    case load(ImageRequest)

    /// The fallback of a request if there is no configuration.
    public init(_ fallback: Fallback?, of request: ImageRequest) {
        switch fallback {
        case nil, .some(.none): self = .none
        case .color(let color): self = .color(color)
        case .url(let url): self = .load(request.loading(fallback: url))
        }
    }
}

extension ImageRequest {
    /// Returns this request for another URL, with the same steps, output, tiers and class. It omits
    /// everything meant for the original origin only, and the overlay, which may have caused the
    /// failure. Options that apply to the image alone (force a reload, refresh, retry after a
    /// cached failure) are dropped, and the copy has no fallback.
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
    /// Options that apply to the requested image and not to its fallback.
    public static let ofImageOnly: RequestOptions = [
        .refreshCached, .fromLoaderOnly, .retryFailed, .respectCacheControl,
    ]
}
