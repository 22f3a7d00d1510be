import ImageModel
import Messages
import Vips

extension ImageLimits {
    /// Refuses an image by its header, before any pixel is computed (SEMANTICS §9.8).
    func check(_ source: SourceImage) throws(ImageError) {
        let size = source.storedSize
        guard size.isPositive else { throw .notAnImage }
        guard size.width <= sideMax, size.height <= sideMax else {
            throw .over("sideMax", "the image is \(size), a side may have \(sideMax) pixels")
        }
        guard source.header.pages <= pagesMax else {
            throw .over("pagesMax", "\(source.header.pages) pages, \(pagesMax) are permitted")
        }
        guard let area = size.area,
            let all = Self.product(area, source.header.pages), all <= pixelsMax
        else {
            throw .over("pixelsMax", "the image is \(size), \(pixelsMax) pixels are permitted")
        }
    }

    /// Refuses what would take too much memory after it was made smaller.
    func checkPixelBytes(_ source: SourceImage, at scale: DecodeScale) throws(ImageError) {
        let size = source.storedSize
        guard let area = scale.size(size).area,
            let bytes = Self.product(area, source.header.bands * source.header.bytesPerBand),
            bytes <= pixelBytesMax
        else {
            throw .over(
                "pixelBytesMax", "the image is \(size), \(pixelBytesMax) bytes are permitted")
        }
    }

    private static func product(_ left: Int, _ right: Int) -> Int? {
        let (value, overflow) = left.multipliedReportingOverflow(by: right)
        return overflow ? nil : value
    }
}
