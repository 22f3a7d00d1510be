internal import CVipsShims

extension VipsImage {
    /// The part of `width` × `height` pixels whose top left corner is at `left`, `top`; it must
    /// lie within the image.
    public func extracted(
        left: Int, top: Int, width: Int, height: Int
    ) throws(VipsError) -> VipsImage {
        try derive("extract_area") {
            cvips_extract($0, CInt(left), CInt(top), CInt(width), CInt(height), $1)
        }
    }

    /// This image at `left`, `top` of a canvas, whose rest is `background`: one value for each
    /// band.
    public func embedded(
        left: Int, top: Int, width: Int, height: Int, background: [Double]
    ) throws(VipsError) -> VipsImage {
        try derive("embed") {
            cvips_embed(
                $0, CInt(left), CInt(top), CInt(width), CInt(height), background,
                CInt(background.count), $1)
        }
    }

    /// What is repeated over the canvas around an image.
    public enum Edge: Int, Sendable {
        /// The pixels of its edge, the image, or the image mirrored at each edge.
        case copy, `repeat`, mirror
    }

    /// This image at `left`, `top` of a canvas, over whose rest it is repeated; its pixels must be
    /// in memory already, or be cheap to compute in any order, unless the edge is copied.
    public func extended(
        left: Int, top: Int, width: Int, height: Int, by edge: Edge = .copy
    ) throws(VipsError) -> VipsImage {
        try derive("embed") {
            cvips_extend(
                $0, CInt(left), CInt(top), CInt(width), CInt(height), CInt(edge.rawValue), $1)
        }
    }

    /// Turned clockwise by so many quarters of a turn; any integer. The pixels must be in memory
    /// already, or be cheap to compute in any order.
    public func rotated(quarters: Int) throws(VipsError) -> VipsImage {
        try derive("rot") { cvips_rotate($0, CInt(quarters & 3), $1) }
    }

    /// Left and right exchanged.
    public func flippedHorizontally() throws(VipsError) -> VipsImage {
        try derive("flip") { cvips_flip_horizontal($0, $1) }
    }

    /// Top and bottom exchanged. The order of rows changes: see `rotated`.
    public func flippedVertically() throws(VipsError) -> VipsImage {
        try derive("flip") { cvips_flip_vertical($0, $1) }
    }
}
