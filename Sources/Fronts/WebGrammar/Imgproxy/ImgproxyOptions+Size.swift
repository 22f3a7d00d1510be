import ImageModel

/// What the options of sizes come to.
extension ImgproxyOptions {
    /// What the sizes are multiplied with, zoom apart. Without a size, an image that is not
    /// enlarged stays as large as it is.
    var shownRatio: Double { hasSize || enlarges ? ratio : min(ratio, mostRatio) }

    var hasSize: Bool { width > 0 || height > 0 }

    /// The size that is wanted, in pixels; a side of 0 follows from the other one.
    var box: PixelSize {
        func side(_ said: Int, _ zoom: Double) -> Int {
            said == 0 ? 0 : max(1, Int((Double(said) * zoom * ratio).rounded()))
        }
        return PixelSize(width: side(width, zoom.across), height: side(height, zoom.down))
    }

    /// The size that the result has at least.
    private var least: PixelSize {
        func side(_ said: Int) -> Int { Int((Double(said) * shownRatio).rounded()) }
        return PixelSize(width: side(leastWidth), height: side(leastHeight))
    }

    private var hasLeast: Bool { leastWidth > 0 || leastHeight > 0 }

    /// Scales, and cuts to the size.
    func sizeSteps() throws(GrammarError) -> [TransformStep] {
        guard hasSize else { return ownSizeStep().map { [$0] } ?? [] }
        if mode == .force { return forced() }
        return (zoomStep().map { [$0] } ?? []) + (try fitted())
    }

    // MARK: - Without a size

    /// The zoom of an image without a size: without `enlarge` it is no longer than its longest
    /// side permits.
    private var ownZoom: (across: Double, down: Double) {
        let most = enlarges ? 1 : max(1, zoom.across, zoom.down)
        return (zoom.across / most, zoom.down / most)
    }

    /// By how much an image that is zoomed may become larger without being enlarged.
    private var mostRatio: Double {
        let zoom = ownZoom
        return 1 / max(zoom.across, zoom.down)
    }

    private func ownSizeStep() -> TransformStep? {
        let (zoom, ratio) = (ownZoom, shownRatio)
        let size = RelativeSize(
            width: .percent(Self.hundredths(zoom.across * ratio)),
            height: .percent(Self.hundredths(zoom.down * ratio)))
        let isWhole = size.width == .percent(100) && size.height == .percent(100)
        guard !isWhole || hasLeast else { return nil }
        return .resizeTo(size, .stretch, least: least)
    }

    /// In millionths, so that a third of three thirds is a whole.
    private static func hundredths(_ part: Double) -> Double {
        (part * 100_000_000).rounded() / 1_000_000
    }

    // MARK: - With one

    /// Exactly the box, or its ratio where the image is smaller. A side that is not said stays.
    private func forced() -> [TransformStep] {
        let mode: ResizeMode = enlarges ? .stretch : .reshape
        guard !box.isPositive || hasLeast else { return [.resize(box, mode, enlarges: enlarges)] }
        func side(_ said: Int, _ zoom: Double) -> RelativeSize.Side {
            said > 0 ? .pixels(said) : .percent(Self.hundredths(zoom * ratio))
        }
        let size = RelativeSize(
            width: side(box.width, zoom.across), height: side(box.height, zoom.down))
        let resize = TransformStep.resizeTo(size, mode, enlarges: enlarges, least: least)
        return [resize] + (hasLeast ? [cut()] : [])
    }

    /// Where the zooms are two, the image first loses what it is zoomed less in one direction: what
    /// then follows keeps its ratio.
    private func zoomStep() -> TransformStep? {
        guard zoom.across != zoom.down else { return nil }
        let most = max(zoom.across, zoom.down)
        return .resizeTo(
            RelativeSize(
                width: .percent(Self.hundredths(zoom.across / most)),
                height: .percent(Self.hundredths(zoom.down / most))), .stretch)
    }

    private func fitted() throws(GrammarError) -> [TransformStep] {
        guard box.isPositive, mode != .fit else {
            return [resize(.fit)] + (hasLeast ? [cut()] : [])
        }
        switch mode {
        case .fit, .force: return []
        case .auto: return [resize(.auto), cut()]
        case .fill, .fillDown:
            // A small image has the ratio of the box, and not the box.
            let keepsRatio = !enlarges && (mode == .fillDown || ratio > 1)
            guard !keepsRatio else {
                guard !hasLeast else {
                    throw .notOffered(
                        leastWidth > 0 ? "min-width" : "min-height",
                        "a cut that keeps the ratio of the box has no least size here: say "
                            + "enlarge:1, or leave it out")
                }
                return [resize(.cover), .cropRatio(AspectRatio(of: box), gravity.cut(ratio))]
            }
            let isPlain = gravity.cut() == .center && !hasLeast
            return isPlain ? [resize(.fill)] : [resize(.cover), cut()]
        }
    }

    private func resize(_ mode: ResizeMode) -> TransformStep {
        guard hasLeast else { return .resize(box, mode, enlarges: enlarges) }
        return .resizeTo(
            RelativeSize(width: .pixels(box.width), height: .pixels(box.height)), mode,
            enlarges: enlarges, least: least)
    }

    /// What sticks out of the box; a side that is not said keeps all.
    private func cut() -> TransformStep {
        func side(_ said: Int) -> RelativeSize.Side { said > 0 ? .pixels(said) : .percent(100) }
        return .cropTo(
            RelativeSize(width: side(box.width), height: side(box.height)), gravity.cut(ratio))
    }
}
