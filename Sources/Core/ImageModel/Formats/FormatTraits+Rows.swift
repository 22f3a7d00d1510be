extension FormatTraits {
    /// One row for each format. Signatures are tried from the first row on, so a longer one stands
    /// before a shorter one that it begins with.
    package static let rows: [FormatTraits] = [
        FormatTraits(
            format: .jxl, name: "jxl", extensions: ["jxl"], mimeType: "image/jxl",
            signatures: [
                .bytes([0xFF, 0x0A]), .bytes([0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20]),
            ],
            isAnimated: true, isPhotographic: true),
        FormatTraits(
            format: .jpeg, name: "jpeg", alias: "jpg", extensions: ["jpg", "jpeg"],
            mimeType: "image/jpeg", signatures: [.bytes([0xFF])], carriesAlpha: false,
            isPhotographic: true, storedSize: { $0.jpegSize },
            input: FormatInput(scales: .parts([1, 2, 4, 8]), hasPlanes: true),
            output: FormatOutput(loss: .always, takesPlanes: true, sideMax: 65_500)),
        FormatTraits(
            format: .png, name: "png", extensions: ["png"], mimeType: "image/png",
            signatures: [.bytes([0x89])], isAnimated: true, storedSize: { $0.pngSize },
            input: FormatInput(), output: FormatOutput(loss: .never), encoderClass: 4),
        FormatTraits(
            format: .gif, name: "gif", extensions: ["gif"], mimeType: "image/gif",
            signatures: [.bytes([0x47])], isAnimated: true, storedSize: { $0.gifSize },
            input: FormatInput()),
        // libwebp makes any scale; these four are the ones whose results are kept the same. Without
        // loss its encoder takes ten times as long.
        FormatTraits(
            format: .webp, name: "webp", extensions: ["webp"], mimeType: "image/webp",
            signatures: [.text("RIFF", then: "WEBP", at: 8)], isAnimated: true,
            isPhotographic: true, storedSize: { $0.webPSize },
            input: FormatInput(scales: .parts([1, 2, 4, 8])),
            output: FormatOutput(loss: .optional, takesPlanes: true, sideMax: 16_383),
            encoderClass: 4, losslessEncoderClass: 40),
        FormatTraits(
            format: .tiff, name: "tiff", extensions: ["tiff", "tif"], mimeType: "image/tiff",
            signatures: [.bytes([0x49]), .bytes([0x4D])]),
        FormatTraits(
            format: .bmp, name: "bmp", extensions: ["bmp"], mimeType: "image/bmp",
            signatures: [.bytes([0x42])]),
        FormatTraits(
            format: .heic, name: "heic", extensions: ["heic"], mimeType: "image/heic",
            signatures: .brands("heic", "heix", "hevc", "hevx"), isAnimated: true,
            isPhotographic: true),
        FormatTraits(
            format: .heif, name: "heif", extensions: ["heif"], mimeType: "image/heif",
            signatures: .brands("mif1", "msf1"), isAnimated: true, isPhotographic: true),
        FormatTraits(
            format: .avif, name: "avif", extensions: ["avif"], mimeType: "image/avif",
            signatures: .brands("avif", "avis"), isAnimated: true, isPhotographic: true,
            encoderClass: 8),
        FormatTraits(
            format: .pdf, name: "pdf", extensions: ["pdf"], mimeType: "application/pdf",
            signatures: [.text("%PDF")]),
        FormatTraits(
            format: .svg, name: "svg", extensions: ["svg"], mimeType: "image/svg+xml",
            signatures: [.text("<", end: "</svg>")]),
        // Each maker has a signature of its own, most of which are those of TIFF.
        FormatTraits(format: .raw, name: "raw", extensions: ["raw"]),
        undefined,
    ]

    /// What is not recognised.
    static let undefined = FormatTraits(format: .undefined, name: "undefined")
}
