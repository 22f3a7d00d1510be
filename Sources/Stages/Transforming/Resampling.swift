import ImageModel
import Vips

/// Maps a part of an image, given in fractions of a pixel, to exactly so many pixels: Lanczos 3
/// where it becomes smaller, bicubic where it becomes larger or nearly stays.
///
/// `vips_resize` takes whole pixels only and moves what it enlarges by half a pixel (8.14), so its
/// parts are called here with numbers of our own.
struct Resampling {
    let active: ActiveRegion
    let target: PixelSize
    /// Any alpha band is 255 everywhere.
    let isOpaque: Bool

    /// Alpha is multiplied into the colours first, lest the colours of transparent pixels show.
    func apply(to image: VipsImage) throws(VipsError) -> VipsImage {
        let header = image.header
        guard !isIdentity(header) else { return image }
        guard header.hasAlpha, !isOpaque else { return try scaled(image) }
        return try scaled(image.premultiplied()).unpremultiplied().castToBytes()
    }

    private func isIdentity(_ header: VipsHeader) -> Bool {
        target == PixelSize(width: header.width, height: header.height)
            && active == ActiveRegion(width: Double(target.width), height: Double(target.height))
    }

    private func scaled(_ image: VipsImage) throws(VipsError) -> VipsImage {
        let header = image.header
        let columns = ResampledSide(
            count: header.width, start: active.left, extent: active.width, target: target.width)
        let rows = ResampledSide(
            count: header.height, start: active.top, extent: active.height, target: target.height)
        return try interpolated(reduced(image, columns, rows), columns, rows)
    }

    /// Rows first, as libvips does: most of the work is then done on contiguous memory.
    private func reduced(
        _ image: VipsImage, _ columns: ResampledSide, _ rows: ResampledSide
    ) throws(VipsError) -> VipsImage {
        let header = image.header
        var image = image
        if columns.before + columns.after + rows.before + rows.after > 0 {
            image = try image.extended(
                left: columns.before, top: rows.before,
                width: columns.before + header.width + columns.after,
                height: rows.before + header.height + rows.after)
        }
        if rows.isReduced { image = try image.reducedVertically(by: rows.factor) }
        if columns.isReduced { image = try image.reducedHorizontally(by: columns.factor) }
        let (width, height) = (
            columns.isReduced ? target.width : image.width,
            rows.isReduced ? target.height : image.height
        )
        guard width != image.width || height != image.height else { return image }
        return try image.extracted(
            left: columns.skip, top: rows.skip, width: width, height: height)
    }

    private func interpolated(
        _ image: VipsImage, _ columns: ResampledSide, _ rows: ResampledSide
    ) throws(VipsError) -> VipsImage {
        guard columns.isInterpolated || rows.isInterpolated else { return image }
        return try image.enlarged(
            horizontally: columns.isInterpolated ? 1 / columns.factor : 1,
            vertically: rows.isInterpolated ? 1 / rows.factor : 1,
            left: columns.isInterpolated ? columns.start : 0,
            top: rows.isInterpolated ? rows.start : 0,
            width: target.width, height: target.height)
    }
}
