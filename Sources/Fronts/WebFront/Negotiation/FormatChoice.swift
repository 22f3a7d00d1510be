package import ImageModel
import WebGrammar

extension AcceptHeader {
    /// Whether anything is accepted that an image can be.
    package var acceptsImages: Bool {
        ImageFormat.allCases.contains { weight(of: $0) > 0 }
    }

    /// Those of the formats offered that are better for this client than the source's would be,
    /// the best first. Who does not name them may not be able to show them, whatever `*/*` says.
    func better(of offered: [ImageFormat]) -> [ImageFormat] {
        let usual = min(weight(of: .jpeg), weight(of: .png))
        return accepted(of: offered.filter { names($0) }).filter { weight(of: $0) >= usual }
    }

    /// A format to make of an image that came in one which is not accepted; `nil`: there is none.
    package func replacement(for info: ImageInfo) -> ImageFormat? {
        let order: [ImageFormat] =
            info.hasAlpha
            ? [.png, .webp, .avif, .gif, .tiff, .jxl, .jpeg]
            : [.jpeg, .png, .webp, .avif, .gif, .tiff, .jxl]
        return accepted(of: order.filter(\.isEncodable)).first { $0 != info.format }
    }
}
