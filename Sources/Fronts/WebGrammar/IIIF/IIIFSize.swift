import ImageModel

/// The size that a region is scaled to (IIIF Image API 3.0, section 4.2).
struct IIIFSize: Hashable {
    /// How it is said.
    enum Form: Hashable {
        /// As it is.
        case max
        /// Exactly, 0 for a side that follows.
        case exact(PixelSize)
        /// Inside of a box.
        case inside(PixelSize)
        /// In hundredths.
        case percent(Double)
    }

    let form: Form
    /// Whether it may be larger than the region.
    let enlarges: Bool

    init(_ text: String) throws(GrammarError) {
        enlarges = text.hasPrefix("^")
        form = try Self.form(enlarges ? String(text.dropFirst()) : text, enlarges)
    }

    private static func form(_ text: String, _ enlarges: Bool) throws(GrammarError) -> Form {
        if text == "max" { return .max }
        if text.hasPrefix("pct:") {
            let said = OptionArguments("size", [String(text.dropFirst(4))])
            let most = enlarges ? 10_000.0 : 100
            let number = try said.needed(said.decimal(0, in: 0...most))
            guard number > 0 else { throw .malformed("size", "no pixels are left: say more") }
            return number == 100 ? .max : .percent(number)
        }
        let isInside = text.hasPrefix("!")
        let sides = (isInside ? String(text.dropFirst()) : text).split(",")
        let said = OptionArguments("size", sides)
        let range = 1...RequestSides.most
        guard sides.count == 2, sides != ["", ""], !isInside || !sides.contains("") else {
            throw .malformed(
                "size", "\(said.shown(text)) is none: use max, w, or ,h or w,h or !w,h or pct:n")
        }
        let box = PixelSize(
            width: try said.whole(0, in: range) ?? 0, height: try said.whole(1, in: range) ?? 0)
        return isInside ? .inside(box) : .exact(box)
    }

    /// The step that scales a region that was cut out; `nil` where it stays.
    var step: TransformStep? {
        switch form {
        case .max: nil
        case .exact(let box) where box.isPositive: .resize(box, .stretch, enlarges: enlarges)
        case .exact(let box): .resize(box, .fit, enlarges: enlarges)
        case .inside(let box): .resize(box, .fit, enlarges: enlarges)
        case .percent(let number):
            .resizeTo(RelativeSize(width: .percent(number), height: .percent(number)), .stretch)
        }
    }

    /// The steps that cut the largest square out of the middle and scale it: a box that is a square
    /// is filled, and another one squeezed out of that.
    var squareSteps: [TransformStep] {
        switch form {
        case .max, .percent: return [IIIFRegion.square.step, step].compactMap { $0 }
        case .inside(let box): return [square(min(box.width, box.height))]
        case .exact(let box):
            let first = square(max(box.width, box.height))
            let isSquare = box.width == box.height || !box.isPositive
            return isSquare ? [first] : [first, .resize(box, .stretch, enlarges: enlarges)]
        }
    }

    private func square(_ side: Int) -> TransformStep {
        .resize(PixelSize(width: side, height: side), .fill, enlarges: enlarges)
    }

    /// What the image has to measure where it is not to be enlarged: a source that is smaller is
    /// an error.
    var least: PixelSize? {
        guard !enlarges, case .exact(let box) = form else { return nil }
        return box
    }
}
