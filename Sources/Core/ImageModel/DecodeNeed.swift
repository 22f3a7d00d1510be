/// What of the source a result needs at least; the decoder chooses its reduction from it.
public enum DecodeNeed: Hashable, Sendable {
    /// Header facts only.
    case header
    /// Every pixel.
    case full
    /// Enough to cover a resize to a box without enlarging what was thrown away. The box counts
    /// in the displayed orientation.
    case cover(PixelSize, ResizeMode)
    /// Enough to scale it down, its ratio kept, to so many pixels.
    case area(Int)

    /// What the first step asks that asks for something; steps before it may exchange columns and
    /// rows. Without such a step all pixels are needed.
    public init(_ request: ImageRequest) {
        guard !request.infoOnly, request.needsPixels else {
            self = .header
            return
        }
        var turned = false
        for step in request.allSteps {
            switch step.form.demand {
            case .nothing: continue
            case .transposition: turned.toggle()
            case .box(let box, let mode):
                // What lies across and is square at once says after a turn something else.
                let mode = turned && mode == .auto ? .cover : mode
                self = .cover(turned ? box.transposed : box, mode)
                return
            case .area(let pixels):
                self = .area(pixels)
                return
            case .everything:
                self = .full
                return
            }
        }
        self = .full
    }

    /// The size at which a decoder makes pixels of a source (displayed size), which has more where
    /// its format can be reduced. Where it makes none, the size of the source.
    package func decodedSize(of source: ImageInfo) -> PixelSize {
        scale(for: source.size, of: source.format.traits.input?.scales ?? .whole).size(source.size)
    }

    /// Whether a reduction to it leaves a file as it is.
    package func leaves(_ file: ImageInfo) -> Bool {
        if file.format.traits.isDrawn { return leavesDrawings }
        return wantedSize(of: file.size).map { $0 == file.size } ?? true
    }

    /// The same of a drawing, which has no pixels that could be too many, and is drawn as large as
    /// a box.
    package var leavesDrawings: Bool {
        if case .cover = self { false } else { true }
    }

    /// What steps take the pixels of a source for. What is drawn has no pixels of its own: it is as
    /// large as it was drawn. Everything else is as large as its source, however it was reduced.
    package func info(ofPixels source: ImageInfo) -> ImageInfo {
        guard source.format.traits.isDrawn else { return source }
        var info = source
        info.size = decodedSize(of: source)
        return info
    }

    /// The largest of the `permitted` reductions after which `source` (displayed size) still has
    /// as many columns and rows as the result; a reduced side counts as `ceil(side / shrink)`.
    /// 1 where nothing larger does.
    public func shrink(for source: PixelSize, permitted: [Int]) -> Int {
        guard let wanted = wantedSize(of: source) else { return 1 }
        let covering = permitted.filter { shrink in
            shrink >= 1 && (source.width + shrink - 1) / shrink >= min(wanted.width, source.width)
                && (source.height + shrink - 1) / shrink >= min(wanted.height, source.height)
        }
        return covering.max() ?? 1
    }

    /// What the first resampling makes of an image of that size; `nil` where every pixel is needed,
    /// or none.
    func wantedSize(of source: PixelSize) -> PixelSize? {
        switch self {
        case .header, .full: nil
        case .cover(let box, let mode):
            ResizeGeometry(source: source, box: box, mode: mode).scaled
        case .area(let pixels):
            ResizeGeometry(source: source, box: source.box(ofPixels: pixels), mode: .fit).scaled
        }
    }
}
