import ImageModel

/// What who asked should know of an image that came, though nothing failed.
enum ImageNotes {
    static func of(_ info: ImageInfo?, for request: ImageRequest) -> [String] {
        guard let info else { return [] }
        let stills = info.stillOf.map { ["still: one of \($0) frames"] } ?? []
        return stills + overlays(of: info.size, for: request)
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
