/// One step of a transformation; the steps of a request run in the order given.
public enum TransformStep: Hashable, Sendable {
    /// Scale to a box in pixels, of which one side may be 0: it follows from the other one by the
    /// ratio of the image, whatever the mode. `enlarges` says whether a smaller image becomes
    /// larger.
    case resize(PixelSize, ResizeMode, enlarges: Bool)
    /// Scale to a box that may be a part of the image, of 10,000 % at most; a side of 0 pixels is
    /// open. `enlarges` is as the mode does where it is not said. The result is at least as large
    /// as `least`, whose sides of 0 say nothing. Of what it fills `fill` keeps what counts most, in
    /// pixels of the image before the step where the gravity has such. `letterbox` is refused.
    case resizeTo(
        RelativeSize, ResizeMode, enlarges: Bool? = nil,
        least: PixelSize = PixelSize(width: 0, height: 0), Gravity = .center)
    /// Scale down, the ratio kept, until the pixels take so many bytes at most, four each.
    case scaleDown(bytes: Int)
    /// Cut a rectangle out; it is intersected with the image first.
    case crop(PixelRect)
    /// Turn about the centre.
    case rotate(Rotation)
    /// Mirror left to right, top to bottom, or both.
    case flip(horizontal: Bool, vertical: Bool)
    /// Lay another image over it.
    case overlay(Overlay)
    /// Take a part of that size, the one that counts most.
    case cropTo(RelativeSize, Gravity)
    /// Take the largest part of that ratio, the one that counts most.
    case cropRatio(AspectRatio, Gravity)
    /// Cut off an edge of one colour, from which no sample of it differs by more than `tolerance`
    /// (0 to 255); no colour: that of the top left corner.
    case trim(tolerance: Double, Colour? = nil)
    /// Put the image on a canvas of at least that size.
    case pad(PixelSize, Gravity, Colour)
    /// Put the image on the smallest canvas of that ratio.
    case padRatio(AspectRatio, Gravity, Colour)
    /// Add margins.
    case extend(Margins, MarginFill)
    /// Lay the image over an opaque colour, which shows where the image is transparent.
    case flatten(Colour)
    /// Take the colours out.
    case grayscale
    /// Make it brown, as old photographs are.
    case sepia
    /// Turn dark into light and each colour into its complement.
    case invert
    /// Add so many hundredths of white, -100 to 100.
    case brightness(Double)
    /// Spread the tones from the middle, -100 (all grey) to 100.
    case contrast(Double)
    /// Make colours stronger by so many hundredths, -100 (none) to 100.
    case saturation(Double)
    /// Raise tones to the power of 1 by this: above 1 is lighter.
    case gamma(Double)
    /// Blur by a Gaussian of that radius.
    case blur(radius: Double)
    /// Make the edges stand out by what a blur of that radius takes away.
    case sharpen(radius: Double)
    /// Show squares of that side in one colour each.
    case pixelate(Int)
    /// Darken the edges by so many hundredths in the corners.
    case vignette(Double)
    /// Cut corners off in quarters of a circle, of half the shorter side at most, and draw a line
    /// of so many pixels along the edge where there is a colour for it.
    case round(radius: Double, Corners = .all, border: Double = 0, Colour? = nil)
    /// Lay a colour over it, or under it, as the mode says; one that is not seen at all leaves it.
    case tint(Colour, BlendMode = .sourceIn)
    /// Let a worker do what none of ours does.
    case custom(CustomStep)

    /// Scale to a box in pixels; a smaller image becomes larger in all modes but `fit`.
    public static func resize(_ box: PixelSize, _ mode: ResizeMode) -> TransformStep {
        .resize(box, mode, enlarges: mode.enlarges)
    }

    /// Whether it scales to a box.
    package var isResize: Bool {
        switch self {
        case .resize, .resizeTo: true
        default: false
        }
    }

    /// Whether a worker of somebody else does it.
    package var isCustom: Bool {
        if case .custom = self { true } else { false }
    }

    /// All that is known of it, apart from its pixels.
    package var form: any StepForm {
        switch self {
        case .resize(let box, let mode, let enlarges):
            ResizeStep(box: box, mode: mode, enlarges: enlarges)
        case .resizeTo(let box, let mode, let enlarges, let least, let gravity):
            ResizeToStep(
                box: box, mode: mode, enlarges: enlarges, least: least, gravity: gravity)
        case .scaleDown(let bytes): ScaleDownStep(bytes)
        case .crop(let rect): CropStep(rect: rect)
        case .rotate(let rotation): RotateStep(rotation: rotation)
        case .flip(let horizontal, let vertical):
            FlipStep(horizontal: horizontal, vertical: vertical)
        case .overlay(let overlay): OverlayStep(overlay: overlay)
        case .cropTo(let size, let gravity): CropToStep(extent: size, gravity: gravity)
        case .cropRatio(let ratio, let gravity): CropRatioStep(ratio: ratio, gravity: gravity)
        case .trim(let tolerance, let colour): TrimStep(tolerance: tolerance, colour: colour)
        case .pad(let size, let gravity, let colour):
            PadStep(size: size, gravity: gravity, colour: colour)
        case .padRatio(let ratio, let gravity, let colour):
            PadRatioStep(ratio: ratio, gravity: gravity, colour: colour)
        case .extend(let margins, let fill): ExtendStep(margins: margins, fill: fill)
        case .flatten(let colour): FlattenStep(colour: colour)
        case .grayscale: GrayscaleStep()
        case .sepia: SepiaStep()
        case .invert: InvertStep()
        case .brightness(let amount): BrightnessStep(amount)
        case .contrast(let amount): ContrastStep(amount)
        case .saturation(let amount): SaturationStep(amount)
        case .gamma(let exponent): GammaStep(exponent)
        case .blur(let radius): BlurStep(radius)
        case .sharpen(let radius): SharpenStep(radius)
        case .pixelate(let side): PixelateStep(side)
        case .vignette(let amount): VignetteStep(amount)
        case .round(let radius, let corners, let border, let colour):
            RoundStep(radius: radius, corners: corners, border: border, colour: colour)
        case .tint(let colour, let mode): TintStep(colour: colour, mode: mode)
        case .custom(let step): step
        }
    }

    /// How people write steps, in the order of the help. A resize has a mode beside it, which is an
    /// option of its own.
    package static let syntaxes =
        [CropStep.syntax, RotateStep.syntax, FlipStep.syntax] + valued.map { $0.syntax }
        + [OverlayStep.syntax, CustomStep.syntax]

    /// The steps that have a name on the wire and no message.
    private static let valued: [any ValuedStep.Type] = [
        ResizeToStep.self, ScaleDownStep.self, CropToStep.self, CropRatioStep.self, TrimStep.self,
        PadStep.self, PadRatioStep.self, ExtendStep.self, FlattenStep.self, GrayscaleStep.self,
        SepiaStep.self, InvertStep.self,
        BrightnessStep.self, ContrastStep.self, SaturationStep.self, GammaStep.self,
        BlurStep.self, SharpenStep.self, PixelateStep.self, VignetteStep.self, RoundStep.self,
        TintStep.self,
    ]

    /// The steps that workers of the own program do, by name.
    package static let ownNames =
        ["resize"] + syntaxes.map(\.name).filter { $0 != CustomStep.syntax.name }
}

extension TransformStep {
    /// SDWebImage's transformer key (SEMANTICS §4.5); what upstream does not have has a name of its
    /// own. Keys know an overlay by the name of its original (`CacheKey`).
    public var key: String { form.key }

    /// The word for this step in errors and on the command line.
    public var name: String { form.name }

    /// A step by its name on the wire; `nil` for a name without a point, which is one of ours, that
    /// this version does not know, and for parameters that the step does not have.
    package init?(named name: String, parameters: [String: String]) {
        if CustomStep.isName(name) {
            self = .custom(CustomStep(name, parameters: parameters))
        } else {
            guard let step = Self.valued.first(where: { $0.syntax.name == name })?.read(parameters)
            else { return nil }
            self = step
        }
    }

    /// The size of what the step makes of an image of that size; `nil` where it makes nothing of
    /// it, or where the numbers are beyond all limits.
    public func size(after source: PixelSize) -> PixelSize? {
        guard source.isPositive, max(source.width, source.height) <= Int(Int32.max) else {
            return nil
        }
        return form.size(after: source)
    }
}
