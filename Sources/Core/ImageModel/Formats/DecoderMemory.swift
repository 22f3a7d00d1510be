/// Bytes that a decoder allocates for an image while it decodes it: measured, and rounded up so
/// that no image of the kind takes more. Planes and pixels that leave the decoder lie in shared
/// memory and do not count.
package struct DecoderMemory: Hashable, Sendable {
    /// For each pixel.
    package var perPixel = 0
    /// For each channel of each pixel.
    package var perChannel = 0
    /// Copies of the decoded samples.
    package var copies = 0

    /// Canvas, frame and what is drawn of it, besides the decoder's own memory: RGBA each.
    package static let composing = DecoderMemory(perPixel: 16)

    /// Bytes for an image; `.max` for more than a number holds.
    ///
    /// - Parameters:
    ///   - pixels: as they are coded.
    ///   - channels: those of colors, alpha and all others.
    ///   - sampleBytes: of one channel.
    package func bytes(pixels: Int, channels: Int, sampleBytes: Int) -> Int {
        let each = perPixel + channels * (perChannel + copies * sampleBytes)
        let (bytes, overflows) = pixels.multipliedReportingOverflow(by: each)
        return overflows ? .max : bytes
    }
}

/// The memory that decoders of one format take, by how an image is coded.
package struct DecoderMemoryRows: Hashable, Sendable {
    /// Row by row or block by block.
    package var streamed = DecoderMemory()
    /// As a whole: in several passes, interlaced, or in channels of their own.
    package var whole: DecoderMemory?
    /// From several coded frames, which the decoder keeps for one another.
    package var layered: DecoderMemory?

    /// How an image is coded.
    package enum Coding: String, Sendable {
        case streamed, whole, layered
    }

    /// The row of a coding, or the nearest one of those that the format has.
    package subscript(coding: Coding) -> DecoderMemory {
        switch coding {
        case .streamed: streamed
        case .whole: whole ?? streamed
        case .layered: layered ?? whole ?? streamed
        }
    }
}

/// How an image is coded, as far as its header says it.
package struct StoredCoding: Hashable, Sendable {
    package var coding: DecoderMemoryRows.Coding
    /// Channels beside the colors, alpha among them.
    package var extraChannels = 0
    /// Pixels of a frame that is larger than the image.
    package var framePixels = 0

    package init(
        _ coding: DecoderMemoryRows.Coding, extraChannels: Int = 0, framePixels: Int = 0
    ) {
        (self.coding, self.extraChannels) = (coding, extraChannels)
        self.framePixels = framePixels
    }
}
