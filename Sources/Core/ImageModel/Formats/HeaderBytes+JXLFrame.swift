// How a JPEG XL is coded, by the headers before its first frame (ISO/IEC 18181-1, D and F). Whether
// channels are transformed as a whole stands behind entropy coding, so all that may be counts as
// such; so does a file whose first frame lies behind an ICC profile, which is coded likewise.
extension HeaderBytes {
    /// What libjxl has to keep of the image while it decodes it.
    var jxlCoding: StoredCoding {
        guard var bits = jxlBits else { return StoredCoding(.whole) }
        let size = jxlSize(&bits)
        guard let metadata = jxlMetadata(&bits) else { return StoredCoding(.layered) }
        guard metadata.knowsFrame, !bits.isCut else {
            return StoredCoding(
                metadata.hasMoreFrames ? .layered : .whole, extraChannels: metadata.extraChannels)
        }
        bits.skipToByte()
        var coding = jxlFrame(&bits, metadata)
        if bits.isCut { coding.coding = .whole }
        coding.extraChannels = metadata.extraChannels
        if coding.framePixels <= size.area ?? .max { coding.framePixels = 0 }
        return coding
    }

    private struct JXLMetadata {
        var extraChannels = 0
        /// Whether colors are those in which lossy images are coded.
        var isXYB = true
        /// Whether there are frames besides the image.
        var hasMoreFrames = false
        /// Whether the first frame can be found.
        var knowsFrame = true
    }

    /// `nil` for more channels than any image has.
    private func jxlMetadata(_ bits: inout JXLBits) -> JXLMetadata? {
        var metadata = JXLMetadata()
        guard !bits.flag(self) else {
            metadata.knowsFrame = bits.flag(self)
            return metadata
        }
        let hasExtraFields = bits.flag(self)
        if hasExtraFields { metadata.hasMoreFrames = jxlExtraFields(&bits) }
        skipBitDepth(&bits)
        bits.skip(1, self)
        metadata.extraChannels = jxlExtraChannels(&bits)
        // What they are has no fixed length, and they are coded as a whole.
        guard metadata.extraChannels == 0, !metadata.hasMoreFrames else {
            metadata.knowsFrame = false
            return metadata.extraChannels > Self.jxlChannelsMax ? nil : metadata
        }
        metadata.isXYB = bits.flag(self)
        metadata.knowsFrame = skipColorEncoding(&bits)
        if hasExtraFields, !bits.flag(self) { bits.skip(16 + 16 + 1 + 16, self) }
        // No extensions, and no transform of its own.
        let isPlain = bits.wide(self) == 0 && bits.flag(self)
        metadata.knowsFrame = metadata.knowsFrame && isPlain
        return metadata
    }

    /// Whether there is no ICC profile behind the metadata.
    private func skipColorEncoding(_ bits: inout JXLBits) -> Bool {
        guard !bits.flag(self) else { return true }
        let (hasProfile, space) = (bits.flag(self), bits.word(self))
        guard !hasProfile else { return false }
        let (grey, xyb, custom) = (1, 2, 2)
        if space != xyb, bits.word(self) == custom { skipPoint(&bits) }
        if space != xyb, space != grey, bits.word(self) == custom {
            for _ in 0..<3 { skipPoint(&bits) }
        }
        if space != xyb {
            if bits.flag(self) { bits.skip(24, self) } else { _ = bits.word(self) }
        }
        _ = bits.word(self)
        return true
    }

    private func skipPoint(_ bits: inout JXLBits) {
        for _ in 0..<2 {
            _ = bits.number([(0, 19), (0, 19), (0, 20), (0, 21)], self)
        }
    }

    /// The header of the first frame (F.2), of an image with colors alone.
    private func jxlFrame(_ bits: inout JXLBits, _ metadata: JXLMetadata) -> StoredCoding {
        // All as usual: one frame, with loss.
        guard !bits.flag(self) else { return StoredCoding(.streamed) }
        let (kind, isModular, flags) = (bits.take(2, self), bits.flag(self), bits.wide(self))
        // Behind a small version of the image, or a part of it that is drawn again, it follows.
        guard kind == 0, !isModular else {
            return StoredCoding(.whole)
        }
        let usesSmallVersion = flags & 0x20 != 0
        if !metadata.isXYB, bits.flag(self), !usesSmallVersion { bits.skip(6, self) }
        if !usesSmallVersion { bits.skip(2, self) }
        if metadata.isXYB { bits.skip(6, self) }
        skipPasses(&bits)
        if bits.flag(self) {
            return StoredCoding(.layered, framePixels: jxlFrameArea(&bits))
        }
        // Replaces what was there, and is the last one.
        let isAlone = bits.take(2, self) == 0 && bits.flag(self)
        return StoredCoding(isAlone && !usesSmallVersion ? .streamed : .layered)
    }

    private func skipPasses(_ bits: inout JXLBits) {
        let passes = bits.number([(1, 0), (2, 0), (3, 0), (4, 3)], self)
        guard passes > 1 else { return }
        let sizes = bits.number([(0, 0), (1, 0), (2, 0), (3, 1)], self)
        bits.skip(2 * (passes - 1) + 2 * sizes, self)
        for _ in 0..<sizes { _ = bits.number([(0, 0), (1, 0), (2, 0), (0, 3)], self) }
    }

    /// Of a frame with a place and a size of its own.
    private func jxlFrameArea(_ bits: inout JXLBits) -> Int {
        let forms = [(0, 8), (256, 11), (2_304, 14), (18_688, 30)]
        for _ in 0..<2 { _ = bits.number(forms, self) }
        let (width, height) = (bits.number(forms, self), bits.number(forms, self))
        return PixelSize(width: width, height: height).area ?? .max
    }
}
