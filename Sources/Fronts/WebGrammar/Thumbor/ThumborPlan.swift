import ImageModel

/// What the parts and filters of a path of thumbor's come to.
struct ThumborPlan {
    let parts: ThumborPath
    private(set) var steps: [TransformStep] = []
    /// The place of the resize among the steps, once it is there.
    private var resizePlace: Int?
    /// How many steps make the size.
    private var sizeStepCount = 0

    var isNeverEnlarged = false
    var isStretched = false
    var output = OutputOptions()
    var maxAge: Int?
    var damaged: DamagedImages?
    private var foci: [ThumborFocus] = []

    init(_ parts: ThumborPath) { self.parts = parts }

    mutating func add(_ step: TransformStep) { steps.append(step) }

    /// The steps before all filters: trim, crop, size, flips.
    mutating func beginWithSize() throws(GrammarError) {
        if !parts.trim.isEmpty, parts.crop != nil {
            throw .notOffered("trim", "a crop beside it counts from before it: leave one out")
        }
        for step in parts.trim { add(step) }
        if let crop = parts.crop { add(.crop(crop)) }
        let size = try sizeSteps()
        if !size.isEmpty { resizePlace = steps.count }
        for step in size { add(step) }
        if parts.flipsAcross || parts.flipsDown {
            add(.flip(horizontal: parts.flipsAcross, vertical: parts.flipsDown))
        }
        sizeStepCount = steps.count
    }

    /// What is asked of the stack.
    func request(for url: String) throws(GrammarError) -> WebRequest {
        var request = WebRequest(ImageRequest(url: url), kind: parts.isMeta ? .facts : .image)
        request.maxAge = maxAge
        request.image.context.damaged = damaged
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

    private func sizeSteps() throws(GrammarError) -> [TransformStep] {
        guard box != PixelSize(width: 0, height: 0) else { return [] }
        guard let fit = parts.fit else { return try cutSteps() }
        switch fit {
        case .inside: return [.resize(box, .fit)]
        case .adaptive where hasOriginal: return [.resizeTo(relativeBox, .fitTurned)]
        case .adaptive: return [.resize(box, mayBeTurned ? .fitTurned : .fit)]
        case .full where hasOriginal:
            return [.resizeTo(relativeBox, .cover, enlarges: !isNeverEnlarged)]
        case .adaptiveFull where hasOriginal:
            return [.resizeTo(relativeBox, .coverTurned, enlarges: !isNeverEnlarged)]
        case .full, .adaptiveFull:
            guard box.isPositive else { return [.resize(box, .fit, enlarges: !isNeverEnlarged)] }
            let mode: ResizeMode = fit == .adaptiveFull && mayBeTurned ? .coverTurned : .cover
            return [.resize(box, mode, enlarges: !isNeverEnlarged)]
        }
    }

    /// Whether the box lies where an image may stand.
    private var mayBeTurned: Bool { box.isPositive && box.width != box.height }

    private var hasOriginal: Bool { parts.width == .original || parts.height == .original }

    /// Without a fit the size is exact, and what the image has too much is cut off.
    private func cutSteps() throws(GrammarError) -> [TransformStep] {
        let enlarges = !isNeverEnlarged
        if hasOriginal { return try originalSteps() }
        guard box.isPositive else { return [.resize(box, .fit, enlarges: enlarges)] }
        if isStretched { return [.resize(box, .stretch, enlarges: enlarges)] }
        if let focus = try focus() {
            return [.resizeTo(relativeBox, .fill, enlarges: enlarges, focus)]
        }
        if parts.gravity == .center { return [.resize(box, .fill, enlarges: enlarges)] }
        return [
            .resize(box, .cover, enlarges: enlarges),
            .cropTo(relativeBox, parts.gravity),
        ]
    }

    /// The box where a side may be the source's.
    private var relativeBox: RelativeSize {
        func side(_ side: ThumborPath.Side) -> RelativeSize.Side {
            switch side {
            case .original: .percent(100)
            case .pixels(let count): .pixels(count)
            case .open: .pixels(0)
            }
        }
        return RelativeSize(width: side(parts.width), height: side(parts.height))
    }

    /// One side is the source's: nothing is scaled, unless the other one has to grow.
    private func originalSteps() throws(GrammarError) -> [TransformStep] {
        let gravity = try focus() ?? parts.gravity
        if isStretched { return [.resizeTo(relativeBox, .stretch, enlarges: !isNeverEnlarged)] }
        return isNeverEnlarged
            ? [.cropTo(relativeBox, gravity)] : [.resizeTo(relativeBox, .fill, gravity)]
    }

    // MARK: - Filters that go by the size

    /// What of a changed image lies on the canvas.
    private var cut: TransformStep {
        func side(_ said: Int) -> RelativeSize.Side { said > 0 ? .pixels(said) : .percent(100) }
        return .cropTo(RelativeSize(width: side(box.width), height: side(box.height)), .center)
    }

    /// Takes a square of the source that counts as much as it is large.
    mutating func focus(on area: ThumborFocus) { foci.append(area) }

    /// Where those that are in the crop have their middle, in pixels of it; `nil`: there is none.
    private func focus() throws(GrammarError) -> Gravity? {
        guard !foci.isEmpty, parts.trim.isEmpty else {
            if foci.isEmpty { return nil }
            throw .notOffered("focal", "a trim beside it moves the image: leave one out")
        }
        guard let place = ThumborFocus.middle(of: foci, in: parts.crop) else { return nil }
        return .pixel(x: place.x, y: place.y)
    }

    /// Whether the box may be turned like the source.
    private var isTurned: Bool {
        (parts.fit == .adaptive || parts.fit == .adaptiveFull) && mayBeTurned
    }

    /// Enlarges what a fit, or a filter before it, left smaller than its box.
    mutating func upscale() {
        guard box.isPositive, !isNeverEnlarged, let resizePlace else { return }
        guard parts.fit != nil else {
            if hasOtherSize { add(.resize(box, .fit, enlarges: true)) }
            return
        }
        guard case .resize(let box, let mode, _) = steps[resizePlace] else { return }
        let resize = TransformStep.resize(box, mode, enlarges: true)
        if isChanged { add(resize) } else { steps[resizePlace] = resize }
    }

    /// Whether a filter did something to what has the size that was asked for.
    private var isChanged: Bool { steps.count > sizeStepCount }

    /// Whether a filter made another size of it.
    private var hasOtherSize: Bool {
        steps[sizeStepCount...].contains { step in
            switch step {
            case .rotate, .resizeTo, .resize: true
            default: false
            }
        }
    }

    /// Puts the image on a canvas of the size that was asked for.
    mutating func fill(_ colour: Colour, under: Bool) throws(GrammarError) {
        guard parts.width != .original, parts.height != .original else {
            throw .notOffered("fill", "orig is no size that is filled here: use numbers")
        }
        if parts.fit != nil || hasOtherSize, box != PixelSize(width: 0, height: 0) {
            guard !isTurned else {
                throw .notOffered("fill", "a box that may be turned is not filled here: use fit-in")
            }
            let canvas = PixelSize(width: max(1, box.width), height: max(1, box.height))
            if hasOtherSize { add(cut) }
            add(.pad(canvas, .center, colour))
        }
        if under, colour != .clear { add(.flatten(colour)) }
    }
}
