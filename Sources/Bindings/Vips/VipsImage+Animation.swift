internal import CVipsShims

extension VipsImage {
    /// The same as pages one below the other, which a GIF is written with as frames.
    ///
    /// - Parameters:
    ///   - pageHeight: rows of each.
    ///   - delays: milliseconds for which each is shown; one for each page.
    ///   - loops: 0 without end, 1 once; else how often libvips is to show it.
    public func animated(
        pageHeight: Int, delays: [Int], loops: Int
    ) throws(VipsError) -> VipsImage {
        let numbers = delays.map { CInt(clamping: $0) }
        return try derive("animated") { image, out in
            cvips_animated(
                image, CInt(clamping: pageHeight), numbers, CInt(clamping: numbers.count),
                CInt(clamping: loops), out)
        }
    }
}
