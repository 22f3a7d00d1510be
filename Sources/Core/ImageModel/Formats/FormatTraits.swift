/// What is known of a format without a file of it: one row of `rows` for each.
package struct FormatTraits: Sendable {
    /// The format.
    package let format: ImageFormat
    /// The word for it.
    package let name: String
    /// Files of it in plain words, for sentences; its name where that is plain enough.
    package var title: String?
    /// Endings of file names, in lower case and without the dot; each is another word for it.
    package var extensions: [String] = []
    /// The registered media type.
    package var mimeType: String?
    /// Any of these tells the format. Of two rows that match, the first one counts.
    package var signatures: [FormatSignature] = []
    /// The first element of a document of this format, where none of the signatures tells it.
    package var root: String?
    /// Another format that a file with these signatures is, by what stands behind them.
    package var guest: (@Sendable (_ bytes: borrowing HeaderBytes) -> ImageFormat?)?
    /// Whether it can carry transparency.
    package var carriesAlpha = true
    /// Whether it can carry an animation.
    package var isAnimated = false
    /// Whether it is no image, but a video.
    package var isVideo = false
    /// Whether most images in it are photographs: rows of a PNG made of one are filtered.
    package var isPhotographic = false
    /// Where an encoded image says its size, if that can be read without a codec.
    package var storedSize: (@Sendable (_ bytes: borrowing HeaderBytes) -> PixelSize?)?
    /// Where it says how many frames it has, if that can be read without a codec and the codec does
    /// not say it, or says something else; `nil` where the codec is right.
    package var storedFrames: (@Sendable (_ bytes: borrowing HeaderBytes) -> Int?)?
    /// Where it states its colors by numbers; a profile may state them in any format.
    package var statedColors: (@Sendable (_ bytes: borrowing HeaderBytes) -> StatedColors?)?
    /// Pages, counted without a codec up to so many, where its decoder would take long to do so.
    package var pageCount: (@Sendable (_ bytes: borrowing HeaderBytes, _ most: Int) -> Int)?
    /// How it is decoded; `nil` where it is not.
    package var input: FormatInput?
    /// How it is encoded; `nil` where it is not.
    package var output: FormatOutput?
    /// How much longer an encoder takes for a pixel than that of JPEG does, with all around it.
    package var encoderClass: UInt64 = 1
    /// The same without loss, where that is an option.
    package var losslessEncoderClass: UInt64?

    /// How much longer the encoder takes for a pixel with these options than that of JPEG does
    /// without any.
    package func encoderClass(_ options: OutputOptions) -> UInt64 {
        let usual = options.isWithoutLoss ? losslessEncoderClass ?? encoderClass : encoderClass
        guard let output else { return usual }
        var hundredths = usual * (output.efforts?.time(of: options.effort) ?? 100)
        if options.isUsual { return max(1, hundredths / 100) }
        for (setting, time) in output.settingTimes where options[setting] != nil {
            hundredths = hundredths * time / 100
        }
        if options.maxBytes != nil, output.losesSomething(options) {
            hundredths *= UInt64(OutputOptions.triesMax)
        }
        return max(1, hundredths / 100)
    }

    /// Whether this version decodes it.
    package var isDecodable: Bool { input != nil }

    /// Whether it has no pixels of its own: it is drawn as large as it is needed.
    package var isDrawn: Bool { input?.scales == .any }

    /// Whether this version encodes it.
    package var isEncodable: Bool { output != nil }

    /// Whether the word, in lower case, is one for it.
    func isCalled(_ word: String) -> Bool {
        format != .undefined && (name == word || extensions.contains(word))
    }

    static let byFormat = Dictionary(
        uniqueKeysWithValues: rows.map { ($0.format, FormatRow(traits: $0)) })
}

/// A row as an object: who reads one word of its `traits` copies no other.
package final class FormatRow: Sendable {
    package let traits: FormatTraits

    init(traits: FormatTraits) { self.traits = traits }

    static let undefined = FormatRow(traits: .undefined)
}

/// Formats that one process decodes, and no other process.
public enum FormatFamily: Hashable, Sendable, CaseIterable {
    /// Images of pixels.
    case raster
    /// Drawings and documents: programs, almost, which are drawn where an operator wants that.
    case vector
}

/// How a format is decoded.
package struct FormatInput: Sendable {
    /// Whose processes decode it.
    package var family = FormatFamily.raster
    /// The scales at which its decoder makes pixels.
    package var scales = DecodeScales.whole
    /// Whether its pixels may leave the decoder as planes.
    package var hasPlanes = false
    /// What its pages are.
    package var pages = Pages.frames
    /// Whether there is something to see before all of its bytes have come.
    package var isShownPartially = false
    /// What its decoder allocates.
    package var memory = DecoderMemoryRows()
    /// How an image of it is coded, where the header says more than libvips does.
    package var coding: (@Sendable (_ bytes: borrowing HeaderBytes) -> StoredCoding)?

    /// What the pages of a file are to one another.
    package enum Pages: Sendable {
        /// Parts of one image: whoever shows it needs all of them.
        case frames
        /// Images of their own, of which one is decoded.
        case images
    }
}

/// How a format is encoded.
package struct FormatOutput: Sendable {
    /// When encoding loses something.
    package enum Loss: Sendable {
        case always
        case never
        /// Unless the request says otherwise.
        case optional
    }

    package let loss: Loss
    /// Whether what is lost, and so how large a file is, goes by a quality.
    package var hasQuality = true
    /// Whether it stores planes, as far as it is encoded with loss.
    package var takesPlanes = false
    /// The bits that a sample may have, from few to many.
    package var depths = [8]
    /// Whether it says by numbers that its colours are of a high dynamic range.
    package var holdsHDR = false
    /// Whether it is written with all frames of an animation.
    package var holdsFrames = false
    /// Pixels on one side at most.
    package var sideMax = Int(Int32.max)
    /// Pixels at most, where its encoder takes much memory for each.
    package var pixelsMax = Int.max
    /// Whether an image whose source is of this format stays in it where nobody names another.
    package var isKept = false
    /// How many hundredths of the time an encoder takes with a setting that costs some.
    package var settingTimes: [OutputSetting: UInt64] = [:]
    /// What `effort` may be; `nil` where the encoder has none.
    package var efforts: EncoderEfforts?

    /// Whether an image may have that size.
    package func hasRoom(for size: PixelSize) -> Bool {
        max(size.width, size.height) <= sideMax && size.area.map { $0 <= pixelsMax } == true
    }
}

/// The efforts of an encoder, from fast to small.
package struct EncoderEfforts: Sendable {
    /// The lowest one.
    let first: Int
    /// The one that is taken where nobody names one.
    package let usual: Int
    /// How many hundredths of the time of the usual one each takes.
    let times: [UInt64]

    package var range: ClosedRange<Int> { first...(first + times.count - 1) }

    /// The one that is taken: the nearest where the format was not known to who asked.
    package func taken(_ effort: Int?) -> Int {
        min(max(effort ?? usual, range.lowerBound), range.upperBound)
    }

    /// The time of an effort, in hundredths of that of the usual one.
    func time(of effort: Int?) -> UInt64 { times[taken(effort) - first] }
}

extension FormatOutput {
    /// Whether the quality says how large a file is.
    package func losesSomething(_ options: OutputOptions) -> Bool {
        hasQuality && (loss == .always || (loss == .optional && !options.isWithoutLoss))
    }

    /// The bits of a sample that are written where so many are wanted: the fewest that hold them,
    /// else the most that there are.
    package func depth(for wanted: Int) -> Int {
        depths.first { $0 >= wanted } ?? depths[depths.count - 1]
    }

    /// Whether planes become this format without being joined.
    package func takesPlanes(lossless: Bool) -> Bool {
        takesPlanes && !(loss == .optional && lossless)
    }
}

extension FormatTraits {
    /// One row for each format. Signatures are tried from the first row on, so a longer one stands
    /// before a shorter one that it begins with.
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
            // libjxl takes 90 bytes for each pixel, and at effort 9 minutes for a million of them.
            output: FormatOutput(
                loss: .optional, depths: [8, 16], pixelsMax: 8_000_000,
                efforts: EncoderEfforts(
                    first: 3, usual: 5, times: [60, 65, 100, 140, 260, 1_250])),
            encoderClass: 7, losslessEncoderClass: 88),
        // Its code stream begins like a JPEG.
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
                settingTimes: [.progressive: 200, .optimise: 150])),
        FormatTraits(
            format: .png, name: "png", extensions: ["png"], mimeType: "image/png",
            signatures: [.bytes([0x89])], isAnimated: true, storedSize: { $0.pngSize },
            storedFrames: { $0.pngFrames }, statedColors: { $0.pngColors },
            input: FormatInput(
                isShownPartially: true,
                memory: DecoderMemoryRows(whole: DecoderMemory(copies: 1))),
            output: FormatOutput(
                loss: .never, depths: [8, 16], holdsHDR: true, holdsFrames: true, isKept: true,
                settingTimes: [.progressive: 200, .colours: 600, .depth: 200, .hdr: 200]),
            encoderClass: 4),
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
            encoderClass: 8),
        // libwebp makes any scale; these four are the ones whose results are kept the same. Without
        // loss its encoder takes ten times as long.
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
            encoderClass: 4, losslessEncoderClass: 40),
        // Those of Canon, Fujifilm, Olympus, Panasonic, Sigma and Minolta have signatures of their
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
            guest: { $0.isCameraRaw ? .raw : nil }, storedSize: { $0.tiffSize },
            pageCount: { $0.tiffPages(upTo: $1) },
            input: FormatInput(
                pages: .images,
                memory: DecoderMemoryRows(streamed: DecoderMemory(copies: 2))),
            output: FormatOutput(loss: .never, depths: [8, 16], settingTimes: [.depth: 200]),
            encoderClass: 8),
        FormatTraits(
            format: .bmp, name: "bmp", title: "BMP images", extensions: ["bmp"],
            mimeType: "image/bmp", signatures: [.text("BM")], storedSize: { $0.bitmap?.size },
            input: FormatInput(
                memory: DecoderMemoryRows(streamed: DecoderMemory(perPixel: 8)))),
        FormatTraits(
            format: .ico, name: "ico", title: "icons and cursors of Windows", extensions: ["ico"],
            mimeType: "image/vnd.microsoft.icon",
            // A TGA may begin as a cursor does, but for the number of images.
            signatures: [.bytes([0, 0, 1, 0]), .bytes([0, 0, 2, 0])],
            guest: { $0.iconCount == nil ? .undefined : nil }, storedFrames: { $0.iconCount },
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
        // The largest side of the levels of AV1; libaom takes some 30 bytes for each pixel. Of its
        // own speeds, 9 to 0, the three slowest take more than 8 s for a million pixels.
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
            encoderClass: 10, losslessEncoderClass: 22),
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
            format: .psd, name: "psd", title: "documents of Photoshop", extensions: ["psd"],
            mimeType: "image/vnd.adobe.photoshop", signatures: [.text("8BPS")]),
        FormatTraits(
            format: .exr, name: "exr", title: "OpenEXR images", extensions: ["exr"],
            signatures: [.bytes([0x76, 0x2F, 0x31, 0x01])]),
        FormatTraits(
            format: .qoi, name: "qoi", title: "QOI images", extensions: ["qoi"],
            signatures: [.text("qoif")], storedSize: { $0.qoiSize }),
        FormatTraits(
            format: .pam, name: "pam", title: "pixels as they are (PAM)", extensions: ["pam"],
            mimeType: "image/x-portable-arbitrarymap", signatures: [.text("P7\n")],
            storedSize: { $0.pamSize }, output: FormatOutput(loss: .never)),
    ]

    /// libheif has the planes of the coded image, and converts all of it at once.
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

    /// What is not recognised.
    static let undefined = FormatTraits(format: .undefined, name: "undefined")
}

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
