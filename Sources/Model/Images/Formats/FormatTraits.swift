/// The static properties of a format: one row of `rows` for each.
package struct FormatTraits: Sendable {
    package let format: ImageFormat
    /// The name on the command line and in JSON.
    package let name: String
    /// A plain-language plural for sentences; `nil` if `name` is plain enough.
    package var title: String?
    /// File name extensions, in lower case and without the dot; each is an alternative name.
    package var extensions: [String] = []
    /// The registered media type.
    package var mimeType: String?
    /// The format is recognized by any of these. If several rows match, the first one wins.
    package var signatures: [FormatSignature] = []
    /// The root element of a document of this format, for documents that no signature matches.
    package var root: String?
    /// Returns another format that shares these signatures if the bytes that follow belong to it.
    package var reclassify: (@Sendable (_ bytes: borrowing HeaderBytes) -> ImageFormat?)?
    /// Whether the format supports transparency.
    package var carriesAlpha = true
    /// Whether the format supports animation.
    package var isAnimated = false
    /// Whether the format is a video rather than an image.
    package var isVideo = false
    /// Whether most images in this format are photographs; a PNG produced from one filters its
    /// rows.
    package var isPhotographic = false
    /// Reads the size of an encoded image, for formats that need no codec for that.
    package var storedSize: (@Sendable (_ bytes: borrowing HeaderBytes) -> PixelSize?)?
    /// Reads the number of frames without a codec, for formats whose codec doesn't report it or
    /// reports something else; `nil` if the codec's number is right.
    package var storedFrames: (@Sendable (_ bytes: borrowing HeaderBytes) -> Int?)?
    /// Reads numerically stated colors; a profile is possible in any format.
    package var statedColors: (@Sendable (_ bytes: borrowing HeaderBytes) -> StatedColors?)?
    /// Counts pages without a codec, up to a maximum, for formats whose decoder would be slow at
    /// it.
    package var pageCount: (@Sendable (_ bytes: borrowing HeaderBytes, _ most: Int) -> Int)?
    /// How the format is decoded; `nil` if it isn't.
    package var input: FormatInput?
    /// How the format is encoded; `nil` if it isn't.
    package var output: FormatOutput?
    /// The encoding time per pixel relative to JPEG, including all overhead.
    package var encodingCost: UInt64 = 1
    /// The same for lossless encoding, if that is optional.
    package var losslessEncodingCost: UInt64?

    /// Returns the encoding time per pixel with these options, relative to JPEG with default
    /// options.
    package func encodingCost(_ options: OutputOptions) -> UInt64 {
        let cost = options.isWithoutLoss ? losslessEncodingCost ?? encodingCost : encodingCost
        guard let output else { return cost }
        var hundredths = cost * (output.efforts?.time(of: options.effort) ?? 100)
        if options.hasDefaultSettings { return max(1, hundredths / 100) }
        for (setting, time) in output.settingTimes where options[setting] != nil {
            hundredths = hundredths * time / 100
        }
        if options.maxBytes != nil, output.hasLossyQuality(options) {
            hundredths *= UInt64(OutputOptions.triesMax)
        }
        return max(1, hundredths / 100)
    }

    /// Whether this version decodes the format.
    package var isDecodable: Bool { input != nil }

    /// Whether the format is vector-based, so that it is rendered at the needed size.
    package var isDrawn: Bool { input?.scales == .any }

    /// Whether this version encodes the format.
    package var isEncodable: Bool { output != nil }

    /// Returns whether a lowercase word is a name or an extension of the format.
    func isCalled(_ word: String) -> Bool {
        format != .undefined && (name == word || extensions.contains(word))
    }

    static let byFormat = Dictionary(
        uniqueKeysWithValues: rows.map { ($0.format, FormatRow(traits: $0)) })
}

/// A row as an object, so that reading one field of `traits` doesn't copy the others.
package final class FormatRow: Sendable {
    package let traits: FormatTraits

    init(traits: FormatTraits) { self.traits = traits }

    static let undefined = FormatRow(traits: .undefined)
}

/// Formats that are decoded by the same kind of process, and by no other.
public enum FormatFamily: Hashable, Sendable, CaseIterable {
    /// Raster images.
    case raster
    /// Vector drawings and documents. These are close to programs, so decoding them is opt-in.
    case vector
}

/// How a format is decoded.
package struct FormatInput: Sendable {
    /// The family, which determines the worker pool.
    package var family = FormatFamily.raster
    /// The scales at which the decoder can produce pixels.
    package var scales = DecodeScales.whole
    /// Whether the decoder can output planes.
    package var hasPlanes = false
    /// How the pages of a file relate to each other.
    package var pages = Pages.frames
    /// Whether an incomplete file can be displayed.
    package var isShownPartially = false
    /// The memory that the decoder allocates.
    package var memory = DecoderMemoryRows()
    /// Reads how an image is coded, for headers that state more than libvips reports.
    package var coding: (@Sendable (_ bytes: borrowing HeaderBytes) -> StoredCoding)?

    /// How the pages of a file relate to each other.
    package enum Pages: Sendable {
        /// Parts of one image; all of them are needed to display it.
        case frames
        /// Independent images, of which one is decoded.
        case images
    }
}

/// How a format is encoded.
package struct FormatOutput: Sendable {
    /// Whether encoding is lossy.
    package enum Loss: Sendable {
        case always
        case never
        /// Lossy unless the request asks for lossless.
        case optional
    }

    package let loss: Loss
    /// Whether a quality setting controls the loss and thereby the file size.
    package var hasQuality = true
    /// Whether the encoder accepts planes, unless it is lossless.
    package var takesPlanes = false
    /// The supported bits per sample, in ascending order.
    package var depths = [8]
    /// Whether the format can signal a high dynamic range by code points.
    package var holdsHDR = false
    /// Whether all frames of an animation can be encoded.
    package var holdsFrames = false
    /// The maximum number of pixels on one side.
    package var sideMax = Int(Int32.max)
    /// The maximum number of pixels, for encoders that need much memory per pixel.
    package var pixelsMax = Int.max
    /// Whether an image keeps this source format if the request names no other.
    package var isKept = false
    /// The encoding time with a costly setting, in percent.
    package var settingTimes: [OutputSetting: UInt64] = [:]
    /// The range of `effort`; `nil` if the encoder has none.
    package var efforts: EncoderEfforts?

    /// Returns whether an image of this size can be encoded.
    package func hasRoom(for size: PixelSize) -> Bool {
        max(size.width, size.height) <= sideMax && size.area.map { $0 <= pixelsMax } == true
    }
}

/// The effort levels of an encoder, from fastest to smallest output.
package struct EncoderEfforts: Sendable {
    /// The lowest level.
    let first: Int
    /// The default level.
    package let usual: Int
    /// The time of each level, in percent of the default level's.
    let times: [UInt64]

    package var range: ClosedRange<Int> { first...(first + times.count - 1) }

    /// Returns the level that is used. Out-of-range values are clamped because the client may not
    /// know the format.
    package func effective(_ effort: Int?) -> Int {
        min(max(effort ?? usual, range.lowerBound), range.upperBound)
    }

    /// Returns the time of a level, in percent of the default level's.
    func time(of effort: Int?) -> UInt64 { times[effective(effort) - first] }
}

extension FormatOutput {
    /// Returns whether the quality setting controls the file size.
    package func hasLossyQuality(_ options: OutputOptions) -> Bool {
        hasQuality && (loss == .always || (loss == .optional && !options.isWithoutLoss))
    }

    /// Returns the bits per sample to encode for the wanted number: the fewest that hold it,
    /// otherwise the most available.
    package func depth(for wanted: Int) -> Int {
        depths.first { $0 >= wanted } ?? depths[depths.count - 1]
    }

    /// Returns whether planes can be encoded without interleaving them.
    package func takesPlanes(lossless: Bool) -> Bool {
        takesPlanes && !(loss == .optional && lossless)
    }
}

extension FormatTraits {
    /// One row per format. Signatures are tried in row order, so a longer one precedes a shorter
    /// one that is its prefix.
    package static let rows = images + videos + [undefined]

    private static let images: [FormatTraits] = [
        FormatTraits(
            format: .jxl, name: "jxl", extensions: ["jxl"], mimeType: "image/jxl",
            signatures: [
                .bytes([0xFF, 0x0A]), .bytes([0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20]),
            ],
            isAnimated: true, isPhotographic: true, storedSize: { $0.jxlSize },
            input: FormatInput(
                memory: DecoderMemoryRows(
                    streamed: DecoderMemory(perPixel: 3, copies: 1),
                    whole: DecoderMemory(perChannel: 9, copies: 1),
                    layered: DecoderMemory(perChannel: 25, copies: 1)),
                coding: { $0.jxlCoding }),
            // libjxl needs 90 bytes per pixel, and at effort 9 minutes per megapixel.
            output: FormatOutput(
                loss: .optional, depths: [8, 16], pixelsMax: 8_000_000,
                efforts: EncoderEfforts(
                    first: 3, usual: 5, times: [60, 65, 100, 140, 260, 1_250])),
            encodingCost: 7, losslessEncodingCost: 88),
        // Its codestream begins like a JPEG.
        FormatTraits(
            format: .jpeg2000, name: "jpeg2000", title: "JPEG 2000 images",
            extensions: ["jp2", "j2k", "jpf", "jpx"], mimeType: "image/jp2",
            signatures: [
                .bytes([0xFF, 0x4F, 0xFF, 0x51]), .bytes([0, 0, 0, 0x0C, 0x6A, 0x50, 0x20, 0x20]),
            ]),
        FormatTraits(
            format: .jpeg, name: "jpeg", extensions: ["jpg", "jpeg"],
            mimeType: "image/jpeg", signatures: [.bytes([0xFF, 0xD8])], carriesAlpha: false,
            isPhotographic: true, storedSize: { $0.jpegSize },
            input: FormatInput(
                scales: .parts([1, 2, 4, 8]), hasPlanes: true, isShownPartially: true,
                memory: DecoderMemoryRows(whole: DecoderMemory(perChannel: 2))),
            output: FormatOutput(
                loss: .always, takesPlanes: true, sideMax: 65_500, isKept: true,
                settingTimes: [.progressive: 200, .optimize: 150])),
        FormatTraits(
            format: .png, name: "png", extensions: ["png"], mimeType: "image/png",
            signatures: [.bytes([0x89])], isAnimated: true, storedSize: { $0.pngSize },
            storedFrames: { $0.pngFrames }, statedColors: { $0.pngColors },
            input: FormatInput(
                isShownPartially: true,
                memory: DecoderMemoryRows(whole: DecoderMemory(copies: 1))),
            output: FormatOutput(
                loss: .never, depths: [8, 16], holdsHDR: true, holdsFrames: true, isKept: true,
                settingTimes: [.progressive: 200, .colors: 600, .depth: 200, .hdr: 200]),
            encodingCost: 4),
        FormatTraits(
            format: .gif, name: "gif", extensions: ["gif"], mimeType: "image/gif",
            signatures: [.bytes([0x47])], isAnimated: true, storedSize: { $0.gifSize },
            input: FormatInput(
                isShownPartially: true,
                memory: DecoderMemoryRows(streamed: DecoderMemory(perPixel: 5))),
            output: FormatOutput(
                loss: .always, hasQuality: false, holdsFrames: true, sideMax: 65_535,
                pixelsMax: 20_000_000,
                efforts: EncoderEfforts(
                    first: 1, usual: 3,
                    times: [100, 100, 100, 200, 300, 300, 300, 350, 350, 350])),
            encodingCost: 8),
        // libwebp supports any scale, but only these four are used, so that results don't change.
        // Lossless encoding takes ten times as long.
        FormatTraits(
            format: .webp, name: "webp", extensions: ["webp"], mimeType: "image/webp",
            signatures: [.text("RIFF", then: "WEBP", at: 8)], isAnimated: true,
            isPhotographic: true, storedSize: { $0.webPSize },
            input: FormatInput(
                scales: .parts([1, 2, 4, 8]), isShownPartially: true,
                memory: DecoderMemoryRows(streamed: DecoderMemory(perPixel: 20))),
            output: FormatOutput(
                loss: .optional, takesPlanes: true, holdsFrames: true, sideMax: 16_383,
                isKept: true,
                settingTimes: [.sharpYUV: 150],
                efforts: EncoderEfforts(
                    first: 0, usual: 4, times: [50, 50, 70, 90, 100, 120, 180])),
            encodingCost: 4, losslessEncodingCost: 40),
        // Canon, Fujifilm, Olympus, Panasonic, Sigma and Minolta files have signatures of their
        // own, one of which begins like a TIFF. The others are TIFF files.
        FormatTraits(
            format: .raw, name: "raw", title: "camera RAW files", extensions: ["raw"],
            signatures: [
                .text("II*\0", then: "CR", at: 8), .text("II", then: "HEAPCCDR", at: 6),
                .text("FUJIFILMCCD-RAW"), .text("IIRO"), .text("IIRS"), .text("MMOR"),
                .text("IIU\0"), .text("FOVb"), .text("\0MRM"),
            ] + .brands("crx ")),
        FormatTraits(
            format: .tiff, name: "tiff", extensions: ["tiff", "tif"], mimeType: "image/tiff",
            signatures: [.text("II*\0"), .text("MM\0*"), .text("II+\0"), .text("MM\0+")],
            reclassify: { $0.isCameraRaw ? .raw : nil }, storedSize: { $0.tiffSize },
            pageCount: { $0.tiffPages(upTo: $1) },
            input: FormatInput(
                pages: .images,
                memory: DecoderMemoryRows(streamed: DecoderMemory(copies: 2))),
            output: FormatOutput(loss: .never, depths: [8, 16], settingTimes: [.depth: 200]),
            encodingCost: 8),
        FormatTraits(
            format: .bmp, name: "bmp", title: "BMP images", extensions: ["bmp"],
            mimeType: "image/bmp", signatures: [.text("BM")], storedSize: { $0.bitmap?.size },
            input: FormatInput(
                memory: DecoderMemoryRows(streamed: DecoderMemory(perPixel: 8)))),
        FormatTraits(
            format: .ico, name: "ico", title: "Windows icons and cursors", extensions: ["ico"],
            mimeType: "image/vnd.microsoft.icon",
            // A TGA may begin like a cursor, except for the number of images.
            signatures: [.bytes([0, 0, 1, 0]), .bytes([0, 0, 2, 0])],
            reclassify: { $0.iconCount == nil ? .undefined : nil }, storedFrames: { $0.iconCount },
            input: FormatInput(
                pages: .images,
                memory: DecoderMemoryRows(streamed: DecoderMemory(perPixel: 8)))),
        FormatTraits(
            format: .heic, name: "heic", extensions: ["heic"], mimeType: "image/heic",
            signatures: .brands("heic", "heix", "hevc", "hevx"), isPhotographic: true,
            statedColors: { $0.heifColors },
            input: FormatInput(pages: .images, memory: hevcMemory)),
        FormatTraits(
            format: .heif, name: "heif", extensions: ["heif"], mimeType: "image/heif",
            signatures: .brands("mif1", "msf1"), isPhotographic: true,
            statedColors: { $0.heifColors },
            input: FormatInput(hasPlanes: true, pages: .images, memory: hevcMemory)),
        // The largest side that AV1 levels permit; libaom needs some 30 bytes per pixel. Of its
        // speeds 9 to 0, the three slowest take more than 8 s per megapixel.
        FormatTraits(
            format: .avif, name: "avif", extensions: ["avif"], mimeType: "image/avif",
            signatures: .brands("avif", "avis"), isAnimated: true, isPhotographic: true,
            storedSize: { $0.heifSize }, storedFrames: { $0.avifFrames },
            statedColors: { $0.heifColors }, pageCount: { min($0.avifFrames, $1) },
            input: FormatInput(
                hasPlanes: true,
                memory: DecoderMemoryRows(
                    streamed: DecoderMemory(perPixel: 2, copies: 2),
                    layered: DecoderMemory(perPixel: 2, copies: 10)),
                coding: {
                    StoredCoding($0.avifSequence == nil ? .streamed : .layered)
                }),
            output: FormatOutput(
                loss: .optional, takesPlanes: true, depths: [8, 10, 12], holdsHDR: true,
                sideMax: 16_384, pixelsMax: 20_000_000,
                settingTimes: [.subsampling: 150, .depth: 200, .hdr: 200],
                efforts: EncoderEfforts(
                    first: 0, usual: 1, times: [35, 100, 150, 280, 1_200, 1_650, 3_300])),
            encodingCost: 10, losslessEncodingCost: 22),
        FormatTraits(
            format: .pdf, name: "pdf", title: "PDF documents", extensions: ["pdf"],
            mimeType: "application/pdf", signatures: [.text("%PDF")],
            input: FormatInput(family: .vector, scales: .any, pages: .images)),
        FormatTraits(
            format: .svg, name: "svg", title: "SVG drawings", extensions: ["svg"],
            mimeType: "image/svg+xml",
            signatures: [.text("<", end: "</svg>")], root: "svg",
            input: FormatInput(family: .vector, scales: .any)),
        FormatTraits(
            format: .psd, name: "psd", title: "Photoshop documents", extensions: ["psd"],
            mimeType: "image/vnd.adobe.photoshop", signatures: [.text("8BPS")]),
        FormatTraits(
            format: .exr, name: "exr", title: "OpenEXR images", extensions: ["exr"],
            signatures: [.bytes([0x76, 0x2F, 0x31, 0x01])]),
        FormatTraits(
            format: .qoi, name: "qoi", title: "QOI images", extensions: ["qoi"],
            signatures: [.text("qoif")], storedSize: { $0.qoiSize }),
        FormatTraits(
            format: .pam, name: "pam", title: "raw pixels (PAM)", extensions: ["pam"],
            mimeType: "image/x-portable-arbitrarymap", signatures: [.text("P7\n")],
            storedSize: { $0.pamSize }, output: FormatOutput(loss: .never)),
    ]

    /// libheif keeps the planes of the coded image and converts all of it at once.
    private static let hevcMemory = DecoderMemoryRows(streamed: DecoderMemory(copies: 3))

    private static let videos: [FormatTraits] = [
        FormatTraits(
            format: .mov, name: "mov", title: "QuickTime video", extensions: ["mov", "qt"],
            mimeType: "video/quicktime",
            signatures: .brands("qt  ") + [
                .text("", then: "moov", at: 4), .text("", then: "mdat", at: 4),
            ], isVideo: true),
        FormatTraits(
            format: .mp4, name: "mp4", title: "MP4 video", extensions: ["mp4", "m4v"],
            mimeType: "video/mp4",
            signatures: .brands("iso", "mp4", "M4V", "avc1", "dash", "MSNV", "3g"),
            isVideo: true),
        FormatTraits(
            format: .webm, name: "webm", title: "WebM video", extensions: ["webm"],
            mimeType: "video/webm", signatures: [.ebml("webm")], isVideo: true),
        FormatTraits(
            format: .mkv, name: "mkv", title: "Matroska video", extensions: ["mkv"],
            mimeType: "video/matroska", signatures: [.ebml("matroska")], isVideo: true),
    ]

    /// The row for unrecognized files.
    static let undefined = FormatTraits(format: .undefined, name: "undefined")
}

/// The memory that a decoder allocates for an image: measured, and rounded up so that no image of
/// this kind exceeds it. Output planes and pixels are in shared memory and not included.
package struct DecoderMemory: Hashable, Sendable {
    /// Bytes per pixel.
    package var perPixel = 0
    /// Bytes per channel and pixel.
    package var perChannel = 0
    /// The number of copies of the decoded samples.
    package var copies = 0

    /// Canvas, frame and the composited frame in RGBA, in addition to the decoder's own memory.
    package static let composing = DecoderMemory(perPixel: 16)

    /// Returns the number of bytes for an image; `.max` on overflow.
    ///
    /// - Parameters:
    ///   - pixels: the number of coded pixels.
    ///   - channels: the number of all channels, including alpha.
    ///   - sampleBytes: bytes per sample.
    package func bytes(pixels: Int, channels: Int, sampleBytes: Int) -> Int {
        let each = perPixel + channels * (perChannel + copies * sampleBytes)
        let (bytes, overflows) = pixels.multipliedReportingOverflow(by: each)
        return overflows ? .max : bytes
    }
}

/// The decoder memory of a format, by how an image is coded.
package struct DecoderMemoryRows: Hashable, Sendable {
    /// Decoded row by row or block by block.
    package var streamed = DecoderMemory()
    /// Decoded as a whole: progressive, interlaced, or with separate channels.
    package var whole: DecoderMemory?
    /// Composed from several coded frames, which the decoder retains.
    package var layered: DecoderMemory?

    /// How an image is coded.
    package enum Coding: String, Sendable {
        case streamed, whole, layered
    }

    /// The entry for a coding, or the nearest one that the format has.
    package subscript(coding: Coding) -> DecoderMemory {
        switch coding {
        case .streamed: streamed
        case .whole: whole ?? streamed
        case .layered: layered ?? whole ?? streamed
        }
    }
}

/// How an image is coded, as far as its header reveals.
package struct StoredCoding: Hashable, Sendable {
    package var coding: DecoderMemoryRows.Coding
    /// The number of channels other than color, including alpha.
    package var extraChannels = 0
    /// The number of pixels of a frame that is larger than the image.
    package var framePixels = 0

    package init(
        _ coding: DecoderMemoryRows.Coding, extraChannels: Int = 0, framePixels: Int = 0
    ) {
        (self.coding, self.extraChannels) = (coding, extraChannels)
        self.framePixels = framePixels
    }
}
