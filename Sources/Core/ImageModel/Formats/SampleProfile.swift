/// An ICC profile that explains the samples of an image.
package struct SampleProfile: Hashable, Sendable {
    /// The whole profile.
    package let bytes: [UInt8]
    /// Its color space: that of the samples, or RGB for grey ones, which are then three alike.
    package let space: ProfileSpace

    /// The profile of a file.
    ///
    /// - Parameters:
    ///   - bytes: as the file has them.
    ///   - space: that of the samples; `nil` where no profile explains them.
    /// - Returns: `nil` for an incomplete profile, and for one of another color space. The image is
    ///   then shown as if it had none, which is what browsers do.
    package init?(_ bytes: UnsafeRawBufferPointer, for space: ProfileSpace?) {
        guard let found = ProfileSpace(bytes), found == space || (found, space) == (.rgb, .grey)
        else { return nil }
        (self.bytes, self.space) = (Array(bytes), found)
    }

    /// A profile made of the numbers in a file.
    ///
    /// - Returns: `nil` for colors that are shown as sRGB, and for other samples than of red, green
    ///   and blue or grey.
    package init?(_ colors: StatedColors, for space: ProfileSpace?) {
        guard let space, space != .cmyk, let colors = RGBColorSpace(colors),
            !colors.isSRGB(for: space), let profile = ColorProfile(colors, for: space)
        else { return nil }
        (bytes, self.space) = (profile.bytes, space)
    }

    /// That of the two statements of a file which counts.
    package init?(
        _ embedded: SampleProfile?, stated: StatedColors?, for space: ProfileSpace?
    ) {
        let made = stated.flatMap { SampleProfile($0, for: space) }
        guard let profile = stated?.outranksProfile == true ? made : embedded ?? made else {
            return nil
        }
        self = profile
    }
}
