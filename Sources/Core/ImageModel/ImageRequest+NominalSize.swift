extension ImageRequest {
    /// The size of the result as far as the request says it, whatever its source: for a `fit`,
    /// inside of which a source may end up smaller, the box; for a crop of what is not known, the
    /// rectangle; one pixel where nothing says a size. The sides of all steps must be positive and
    /// at most 2³¹ − 1.
    public var nominalSize: PixelSize {
        var size: PixelSize?
        for step in allSteps { size = step.nominalSize(after: size) }
        return size ?? PixelSize(width: 1, height: 1)
    }
}

extension TransformStep {
    /// `nil` where a size is not known.
    fileprivate func nominalSize(after source: PixelSize?) -> PixelSize? {
        switch self {
        case .resize(let box, .fit):
            return source.map { ResizeGeometry(source: $0, box: box, mode: .fit).output } ?? box
        case .resize(let box, .stretch), .resize(let box, .fill), .resize(let box, .letterbox):
            return box
        case .crop(let rect):
            return source.map { rect.intersection(with: $0)?.size ?? $0 } ?? rect.size
        case .rotate(let rotation):
            let turns = rotation.quarterTurnsClockwise ?? 0
            return turns % 2 == 1 ? source?.transposed : source
        case .flip, .overlay: return source
        }
    }
}
