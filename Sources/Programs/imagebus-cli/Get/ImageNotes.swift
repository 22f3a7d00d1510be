import ImageModel
import Imagebus

/// What who asked should know of an image that came, though nothing failed.
enum ImageNotes {
    static func of(_ image: ImageResponse, for request: ImageRequest) -> [String] {
        let stale = image.validity?.originFailure.map {
            ["stale: the origin could not be asked: \($0)"]
        }
        let damaged = image.isDamaged ? ["damaged: pixels of the source are missing"] : []
        return (stale ?? []) + damaged + of(image.info, for: request)
    }

    static func of(_ info: ImageInfo?, for request: ImageRequest) -> [String] {
        guard let info else { return [] }
        let stills = info.stillOf.map { ["still: one of \($0) frames"] } ?? []
        return stills + overlays(of: info.size, for: request) + unused(request)
            + settingsWithoutEffect(on: info.format, for: request)
    }

    /// Words for an encoder where nothing is encoded, as far as the request says. A profile may say
    /// more.
    private static func unused(_ request: ImageRequest) -> [String] {
        let context = request.context
        guard let name = context.encodeOptions.map({ _ in ContextKey.imageEncodeOptions.rawValue }),
            request.isPlain, context.preset == nil, context.profile == nil
        else { return [] }
        return [
            "\(name) has no effect where nothing is encoded: name a step, or a format with "
                + "--format or the ending of -o"
        ]
    }

    /// Where no format was named, what that of the result does not have is left out.
    private static func settingsWithoutEffect(
        on format: ImageFormat, for request: ImageRequest
    ) -> [String] {
        guard !request.infoOnly else { return [] }
        return request.output.said.map(\.setting).filter { !$0.row.formats.contains(format) }.map {
            "\($0.name) has no effect on \(format.name): it is for "
                + $0.row.formats.map(\.name).joined(separator: ", ")
        }
    }

    private static func overlays(of size: PixelSize, for request: ImageRequest) -> [String] {
        overlaysThatEndUp(in: request.steps).filter { isOutside($0, size) }.map {
            "the overlay at \($0.x),\($0.y) lies outside the image, which is \(size): it is "
                + "not seen"
        }
    }

    /// Overlays behind which no step changes the size or what is where.
    private static func overlaysThatEndUp(in steps: [TransformStep]) -> [Overlay] {
        var overlays: [Overlay] = []
        for step in steps.reversed() {
            guard case .overlay(let overlay) = step else { break }
            overlays.insert(overlay, at: 0)
        }
        return overlays
    }

    /// Whether it cannot be seen however large it is: it begins behind the right or bottom edge,
    /// or, counted from these, ends before the left or top one.
    private static func isOutside(_ overlay: Overlay, _ size: PixelSize) -> Bool {
        // A place keeps it inside, unless it is moved far.
        guard overlay.gravity == nil, !overlay.repeats else { return false }
        func isOutside(_ place: Int, _ side: Int) -> Bool {
            place < 0 ? side + place <= 0 : place >= side
        }
        return isOutside(overlay.x, size.width) || isOutside(overlay.y, size.height)
    }
}
