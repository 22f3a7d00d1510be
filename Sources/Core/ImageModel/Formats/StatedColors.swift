/// The colors of an image whose file states them by numbers, as browsers show them.
package enum StatedColors: Hashable, Sendable {
    /// Code points of ITU-T H.273 in a PNG, which count even if the file has a profile.
    case cicp(primaries: Int, transfer: Int)
    /// The same in a HEIF, which count if it has none. Curves of cameras, such as that of BT.709,
    /// are shown as that of sRGB, and so is what is not specified.
    case nclx(primaries: Int, transfer: Int)
    /// Chromaticities, those of sRGB if `nil`, and the power that makes light of samples.
    case measured(Chromaticities?, exponent: Double)

    /// Whether a profile of the same file is ignored.
    package var outranksProfile: Bool {
        if case .cicp = self { true } else { false }
    }
}
