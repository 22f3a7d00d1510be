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
