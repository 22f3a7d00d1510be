internal import CVipsShims

extension VipsImage {
    /// The same as pages one below the other, which a GIF is written with as frames.
    ///
    /// - Parameters:
    ///   - pageHeight: rows of each.
    ///   - delays: milliseconds for which each is shown; one for each page.
    ///   - plays: how often all are played, 0: without end. libvips writes one repetition less, and
    ///     nothing for 1.
    public func animated(
        pageHeight: Int, delays: [Int], plays: Int
    ) throws(VipsError) -> VipsImage {
        let numbers = delays.map { CInt(clamping: $0) }
        return try derive("animated") { image, out in
            cvips_animated(
                image, CInt(clamping: pageHeight), numbers, CInt(clamping: numbers.count),
                CInt(clamping: plays), out)
        }
    }
}
