/// One kind of step without its pixels: all that keys, limits, sizes and decoders need to know
/// about it. `Transforming` computes its pixels.
package protocol StepForm: Hashable, Sendable {
    /// The word for it in errors.
    var name: String { get }

    /// The transformer key (SEMANTICS §4.5).
    var key: String { get }

    /// What it asks of the pixels of the source, as the first step of those that ask for something.
    var demand: StepDemand { get }

    /// The size of what it makes of an image of that size, whose sides are from 1 to 2³¹ − 1; `nil`
    /// where it makes nothing of it.
    func size(after source: PixelSize) -> PixelSize?

    /// Whether the size depends on what the pixels show: it is that of `size(after:)` at most.
    var looksForItsSize: Bool { get }

    /// The same as far as it is known: `source` is `nil` where the size is not known so far.
    func nominalSize(after source: PixelSize?) -> PixelSize?

    /// The same with so many pixels for each of its pixels; `nil` where it counts none.
    func scaled(by ratio: Double) -> TransformStep?

    /// Whether it takes samples of more than 8 bits, whatever their colours are.
    var takesDepth: Bool { get }

    /// Throws what it is refused for before anything is loaded; `pixelsMax` is the limit of an
    /// image.
    func check(pixelsMax: Int) throws(ImageError)
}

extension StepForm {
    /// Most steps change pixels and leave the size.
    package func size(after source: PixelSize) -> PixelSize? { source }

    package func nominalSize(after source: PixelSize?) -> PixelSize? { source }

    package var looksForItsSize: Bool { false }

    package var takesDepth: Bool { false }

    package func scaled(by ratio: Double) -> TransformStep? { nil }

    /// Most steps need to know of each pixel only what it shows.
    package var demand: StepDemand { .nothing }

    package func check(pixelsMax: Int) throws(ImageError) {}
}

/// What a step asks of the pixels of the source.
package enum StepDemand: Hashable, Sendable {
    /// Nothing: it does the same to fewer of them.
    case nothing
    /// Nothing, and it exchanges columns and rows.
    case transposition
    /// As many as a resize uses.
    case box(PixelSize, ResizeMode)
    /// So many of them, at least 1, as far as there are more.
    case area(Int)
    /// All of them.
    case everything
}

/// A step that is on the wire under its name, with its parameters as texts, and needs no message of
/// its own there. `TransformStep(named:parameters:)` reads it.
package protocol NamedStep: StepForm {
    /// What it is given, by name.
    var parameters: [String: String] { get }
}

extension NamedStep {
    package var parameters: [String: String] { [:] }
}
