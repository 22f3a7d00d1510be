internal import CVipsShims

extension VipsImage {
    /// With another image over it, whose top left corner is at `left`, `top`; it must lie within
    /// this one. sRGB of 8 bits, with alpha where this image has it.
    ///
    /// The pixels of both must be in memory already, or be cheap to compute in any order.
    ///
    /// - Parameter opacity: what is left of the alpha of `layer`, 0 to 1.
    public func overlaid(
        by layer: VipsImage, left: Int, top: Int, opacity: Double
    ) throws(VipsError) -> VipsImage {
        let owners = ImageOwners(first: owner, second: layer.owner)
        return try withExtendedLifetime((self, layer)) { () throws(VipsError) -> VipsImage in
            try Self.make("composite2", owner: owners) { out in
                cvips_overlay(
                    pointer, layer.pointer, CInt(left), CInt(top), opacity, out)
            }
        }
    }
}

/// Who owns the bytes of two images that became one.
private final class ImageOwners {
    private let first: AnyObject?
    private let second: AnyObject?

    init(first: AnyObject?, second: AnyObject?) {
        (self.first, self.second) = (first, second)
    }
}
