import ImageModel

/// What the parts and filters of a path of thumbor's come to.
struct ThumborPlan {
    let parts: ThumborPath
    private(set) var steps: [TransformStep] = []
    /// The place of the resize among the steps, once it is there.
    private var resizePlace: Int?
    /// How many steps make the size.
    private var sizeSteps = 0

    var isNeverEnlarged = false
    var isStretched = false
    var output = OutputOptions()
    var maxAge: Int?

    init(_ parts: ThumborPath) { self.parts = parts }

    mutating func add(_ step: TransformStep) { steps.append(step) }

    /// The steps before all filters: trim, crop, size, flips.
    mutating func beginWithSize() throws(GrammarError) {
        if parts.trim != nil, parts.crop != nil {
            throw .notOffered("trim", "a crop beside it counts from before it: leave one out")
        }
        if let trim = parts.trim { add(trim) }
        if let crop = parts.crop { add(.crop(crop)) }
        if let step = try sizeStep() {
            if case .resize = step { resizePlace = steps.count }
            add(step)
        }
        if parts.flipsAcross || parts.flipsDown {
            add(.flip(horizontal: parts.flipsAcross, vertical: parts.flipsDown))
        }
        sizeSteps = steps.count
    }

    /// What is asked of the stack.
    func request(for url: String) throws(GrammarError) -> WebRequest {
        var request = WebRequest(ImageRequest(url: url), kind: parts.isMeta ? .facts : .image)
        request.maxAge = maxAge
        guard parts.isMeta else {
            (request.image.steps, request.image.output) = (steps, output)
            return try request.checked()
        }
        guard steps.isEmpty, output.isDefault else {
            throw .notOffered("meta", "facts are those of the source: leave the other parts out")
        }
        request.image.infoOnly = true
        return try request.checked()
    }

    // MARK: - Size

    /// The size that is wanted in pixels, 0 where it is not said in pixels.
    private var box: PixelSize {
        func pixels(_ side: ThumborPath.Side) -> Int {
            if case .pixels(let count) = side { count } else { 0 }
        }
        return PixelSize(width: pixels(parts.width), height: pixels(parts.height))
    }

    private func sizeStep() throws(GrammarError) -> TransformStep? {
        guard box != PixelSize(width: 0, height: 0) else { return nil }
        guard let fit = parts.fit else { return try cutStep() }
        switch fit {
        case .full, .adaptiveFull:
            guard !box.isPositive else {
                throw .notOffered(
                    fit.rawValue, "a box is not covered without a cut here: leave a side open")
            }
            return .resize(box, .fit, enlarges: !isNeverEnlarged)
        case .adaptive where box.isPositive && box.width != box.height:
            throw .notOffered(
                fit.rawValue, "a box is not turned like the source here: use fit-in")
        case .inside, .adaptive: return .resize(box, .fit)
        }
    }

    /// Without a fit the size is exact.
    private func cutStep() throws(GrammarError) -> TransformStep {
        if parts.width == .original || parts.height == .original { return try originalStep() }
        guard box.isPositive else { return .resize(box, .fit, enlarges: !isNeverEnlarged) }
        if isStretched { return .resize(box, .stretch, enlarges: !isNeverEnlarged) }
        if let word = parts.isSmart ? "smart" : parts.across ?? parts.down {
            throw .notOffered(
                word, "a cut to a size keeps the middle here: leave it out, or use fit-in")
        }
        return .resize(box, .fill, enlarges: !isNeverEnlarged)
    }

    /// One side is the source's: nothing is scaled, unless the other one has to grow.
    private func originalStep() throws(GrammarError) -> TransformStep {
        guard isNeverEnlarged, !isStretched else {
            throw .notOffered("orig", "orig beside a number needs the filter no_upscale() here")
        }
        func side(_ side: ThumborPath.Side) -> RelativeSize.Side {
            if case .pixels(let count) = side { .pixels(count) } else { .percent(100) }
        }
        let size = RelativeSize(width: side(parts.width), height: side(parts.height))
        return .cropTo(size, parts.gravity)
    }

    // MARK: - Filters that go by the size

    /// Enlarges what a fit left smaller than its box.
    mutating func upscale() {
        guard parts.fit != nil, !isNeverEnlarged, let resizePlace else { return }
        let resize = TransformStep.resize(box, .fit, enlarges: true)
        if steps.count == sizeSteps { steps[resizePlace] = resize } else { add(resize) }
    }

    /// Puts the image on a canvas of the size that was asked for.
    mutating func fill(_ colour: Colour, under: Bool) throws(GrammarError) {
        guard parts.width != .original, parts.height != .original else {
            throw .notOffered("fill", "orig is no size that is filled here: use numbers")
        }
        if parts.fit != nil, box != PixelSize(width: 0, height: 0) {
            let canvas = PixelSize(width: max(1, box.width), height: max(1, box.height))
            add(.pad(canvas, .center, colour))
        }
        if under, colour != .clear { add(.flatten(colour)) }
    }
}
