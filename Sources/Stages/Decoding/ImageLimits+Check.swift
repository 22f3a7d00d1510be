import ImageModel
import Messages
import Vips

extension ImageLimits {
    /// Refuses a file by its pages, before a decoder reads all of them.
    func checkPages(of bytes: UnsafeRawBufferPointer, _ format: ImageFormat) throws(ImageError) {
        let (most, overflows) = pagesMax.addingReportingOverflow(1)
        let file = bytes.bindMemory(to: UInt8.self).span
        guard !overflows, let pages = format.pages(of: file, upTo: most), pages > pagesMax
        else { return }
        throw .over("pagesMax", "more than \(pagesMax) pages, which are permitted")
    }

    /// Refuses an image by its header, before any pixel is computed (SEMANTICS §9.8).
    func check(_ source: SourceImage) throws(ImageError) {
        let size = source.storedSize
        guard size.isPositive else { throw .notAnImage }
        guard size.width <= sideMax, size.height <= sideMax else {
            throw .over("sideMax", "the image is \(size), a side may have \(sideMax) pixels")
        }
        guard source.pages <= pagesMax else {
            throw .over("pagesMax", "\(source.pages) pages, \(pagesMax) are permitted")
        }
        guard let area = size.area,
            let all = Self.product(area, source.frames), all <= pixelsMax
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
