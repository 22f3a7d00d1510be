extension TransformStep {
    /// The size of what the step makes of an image of that size; `nil` where it makes nothing of
    /// it, or where the numbers are beyond all limits.
    public func size(after source: PixelSize) -> PixelSize? {
        switch self {
        case .resize(let box, let mode):
            guard Self.isComputable(source), Self.isComputable(box) else { return nil }
            return ResizeGeometry(source: source, box: box, mode: mode).output
        case .crop(let rect): return rect.intersection(with: source)?.size
        case .rotate(let rotation):
            guard let quarters = rotation.quarterTurnsClockwise else { return nil }
            return rotation.fitsSize && quarters % 2 == 1 ? source.transposed : source
        case .flip, .overlay: return source
        }
    }

    /// Products of two such sides do not overflow.
    private static func isComputable(_ size: PixelSize) -> Bool {
        size.isPositive && max(size.width, size.height) <= Int(Int32.max)
    }
}
