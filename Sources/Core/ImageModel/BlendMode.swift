/// How a colour or an image is laid over another image. The raw values are those of `CGBlendMode`,
/// the formulas those of Core Graphics: of PDF for the first 16, of Porter and Duff for the others.
public enum BlendMode: UInt8, Hashable, Sendable, CaseIterable {
    /// Over the image.
    case normal
    /// The product: never lighter.
    case multiply
    /// The product of what is missing to white: never darker.
    case screen
    /// Multiplies where the image is dark, screens where it is light.
    case overlay
    /// The darker sample.
    case darken
    /// The lighter sample.
    case lighten
    /// Lightens the image.
    case colorDodge
    /// Darkens the image.
    case colorBurn
    /// A diffuse light on the image.
    case softLight
    /// Multiplies where the source is dark, screens where it is light.
    case hardLight
    /// The difference.
    case difference
    /// A difference of less contrast.
    case exclusion
    /// The hue of the source, all else of the image.
    case hue
    /// The saturation of the source, all else of the image.
    case saturation
    /// Hue and saturation of the source, the light of the image.
    case color
    /// The light of the source, all else of the image.
    case luminosity
    /// Nothing.
    case clear
    /// The source in place of the image.
    case copy
    /// The source where the image is.
    case sourceIn
    /// The source where the image is not.
    case sourceOut
    /// The source over the image, where that is.
    case sourceAtop
    /// The source below the image.
    case destinationOver
    /// The image where the source is.
    case destinationIn
    /// The image where the source is not.
    case destinationOut
    /// The image over the source, where that is.
    case destinationAtop
    /// Each where the other is not.
    case xor
    /// The sum, less white.
    case plusDarker
    /// The sum.
    case plusLighter

    private static let names = [
        "normal", "multiply", "screen", "overlay", "darken", "lighten", "color-dodge",
        "color-burn", "soft-light", "hard-light", "difference", "exclusion", "hue", "saturation",
        "color", "luminosity", "clear", "copy", "source-in", "source-out", "source-atop",
        "destination-over", "destination-in", "destination-out", "destination-atop", "xor",
        "plus-darker", "plus-lighter",
    ]

    static let expected = names.joined(separator: ", ")

    /// The word on the command line, in configurations and on the wire.
    public var name: String { Self.names[Int(rawValue)] }

    /// By its name; `nil` for other words.
    public init?(name: String) {
        guard let mode = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = mode
    }
}
