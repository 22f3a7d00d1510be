import Model
import WebGrammar

/// URLs created by libthumbor with the key `thistledown`, each with its meaning.
enum SignedByLibthumbor {
    static let key = "thistledown"

    /// The source at the end of all paths but two.
    static let source = "https%3A%2F%2Fpics.example.org%2Fa.jpg"
    static let url = "https://pics.example.org/a.jpg"

    static let good = images + fits + cuts + others + places

    private static let images = [
        row("9sNb4xf8rEYdr35rs49ryJnO3No="),
        GoodRow("/uvYC6s0NqmgYwuhO2qnYrUbtcwk=/pics.example.org/b.png") {
            $0.image.url = "http://pics.example.org/b.png"
        },
        GoodRow("/WqEE_ronJFLAW_E2qAEXQKyIOoY=/http://pics.example.org/c.gif") {
            $0.image.url = "http://pics.example.org/c.gif"
        },
        row("8Uao1kYcBTOMVCC80CZMJRJOMuI=/320x200", .resize(320, 200, .fill)),
        row("wVqtYQK0fZVtz1jnWv-uRYLzilM=/320x0", .resize(320, 0, .fit, enlarges: true)),
        row("SyMv3F-qrDVamanUM20yZq8dByU=/0x200", .resize(0, 200, .fit, enlarges: true)),
        row("8kFfUH87PalGUkO78Pka8mVw35k=/-320x200", .resize(320, 200, .fill), .flipX),
        row("zigP2_fT0JDYXhKGeuZR9useYK4=/320x-200", .resize(320, 200, .fill), .flipY),
        row("dHgN1aB2osrXn_epZU6UEumAts0=/-0x-0", .flipXY),
        row("v3gVNijuuCgEYzsPJcNtlBFqCCw=/-320x0", .resize(320, 0, .fit, enlarges: true), .flipX),
    ]

    private static let fits = [
        row("l-z-71XVBJY82W77321ncABAA4s=/fit-in/320x200", .resize(320, 200, .fit)),
        row("YbObgWlzPXx9KGVTHoyc1T3yBlE=/fit-in/320x0", .resize(320, 0, .fit)),
        row(
            "UuoJ1c1VLKHbwOesMAWlvJ4kXV4=/full-fit-in/320x0", .resize(320, 0, .fit, enlarges: true)),
        row("hs2QF5vefcCmjWvqEunChySPtF8=/adaptive-fit-in/320x320", .resize(320, 320, .fit)),
        row(
            "iRTHKYK7TxyxyHderR-v1j4NHBM=/adaptive-full-fit-in/0x200",
            .resize(0, 200, .fit, enlarges: true)),
        row("VgBV1qm63GsOzU7TSjjByRH66qg=/320x0/left", .resize(320, 0, .fit, enlarges: true)),
        row("w_tAqktZiKJBQHdgNF4STVg60nU=/0x200/top/smart", .resize(0, 200, .fit, enlarges: true)),
    ]

    private static let cuts = [
        row("GeSMZ08btL28EBg0feEAR0w6bD4=/10x20:110x220", .crop(10, 20, 100, 200)),
        row(
            "eFVBX2m0AwEBp13eLYdWSHxEPaE=/10x20:110x220/50x0", .crop(10, 20, 100, 200),
            .resize(50, 0, .fit, enlarges: true)),
        row("qv8mCSKE4VvwDyKmCFiD-JbBcEY=/trim", .trim(tolerance: 0)),
        row("gDToPKrcPonRus_9Nz3pbXtHO_c=/trim:top-left", .trim(tolerance: 0)),
        row("DR1ToQ6UpcEqokSc3cnhbE3zBJQ=/trim:top-left:12", .trim(tolerance: 12)),
        row("W3Lua_lKVxwgRRKNFeNSWqqIDvM=/trim::12", .trim(tolerance: 12)),
        row(
            "qf-EAMTN5SxtfdJU9VOpS8KzTag=/origx200/top/filters:no_upscale()",
            .cropTo(100%, 200, .at(0.5, 0))),
    ]

    private static let others = [
        row("Gs4F0C5VkiKtPCVX3G3cO5ZKSKM=/meta") {
            $0.kind = .properties
            $0.image.infoOnly = true
        },
        row("ChN6hDXHFk27X9VF9cvYcfCTAas=/filters:quality(45):format(webp)") {
            $0.image.output = OutputOptions(format: .webp, quality: 45)
        },
        row(
            "Vy1vxCs9SVI_yIOBXBBSc5wABKs=/320x200/filters:no_upscale():grayscale()",
            .resize(320, 200, .fill, enlarges: false), .grayscale),
        row(
            "KABRPCaVEDzuJXRhdLECBT2tHpE=/fit-in/320x200/filters:fill(336699)",
            .resize(320, 200, .fit), .pad(PixelSize(320, 200), .center, Color(argb: 0xFF33_6699))),
        row(
            "a-2kcQtD3SrUzXxgus3chiLaBgM=/fit-in/320x200/filters:upscale():blur(4)",
            .resize(320, 200, .fit, enlarges: true), .blur(radius: 4)),
        row(
            "alV-vyK2lt3A9CgWuNjHQaD8DU0=/filters:watermark(http://pics.example.org/m.png,-5,"
                + "center,25):max_age(90)"
        ) {
            $0.maxAge = 90
            $0.image.steps = [
                .overlay(
                    Overlay(
                        url: "http://pics.example.org/m.png", x: 5, opacity: 0.75,
                        gravity: .point(x: 1, y: 0.5)))
            ]
        },
        GoodRow(
            "/jJLREo6uDrXn_oBxMFM5gfhS6_o=/filters:rotate(90):brightness(-10):contrast(20)/"
                + source, .turn(270), .brightness(-10), .contrast(18.033)),
        row("hqIQqXz3A51Qsid5vU31PP_9aS4=/filters:round_corner(12,255,0,0):strip_exif()") {
            $0.image.output.metadata = .nothing
            $0.image.steps = [.round(radius: 12), .flatten(Color(argb: 0xFFFF_0000))]
        },
    ]

    private static let places = [
        row("of7II3VzB4KrEruESrtHfW-cGcY=/full-fit-in/320x200", .resize(320, 200, .cover)),
        row("85aTJFEI8OVp37T1f0Mg7Kr6mEQ=/adaptive-fit-in/320x200", .resize(320, 200, .fitTurned)),
        row(
            "XGr8qOwpTbGfps0BFZpI-8mmfxQ=/320x200/right", .resize(320, 200, .cover),
            .cropTo(320, 200, .at(1, 0.5))),
        row(
            "gWpXF7ftX-OdMi99vnVL0sgkdU8=/320x200/bottom", .resize(320, 200, .cover),
            .cropTo(320, 200, .at(0.5, 1))),
        row(
            "eYn6JrX2qOwMUBjqkKJ-kIa537U=/320x200/smart", .resize(320, 200, .cover),
            .cropTo(320, 200, .attention)),
        row(
            "UOvVVr76qyMWmC_B6zgXtHCwzRM=/trim:bottom-right:12", .flipXY, .trim(tolerance: 12),
            .flipXY),
        row("ypOvHg3QIl3_MhWMANK03gF_K84=/origx200", .resizeTo(100%, 200, .fill)),
        row("hPqFpQslvXFUaWi9QXuMxpSo4zQ=/filters:focal(1x2:3x4)"),
    ]

    /// A signed path before the source, with its steps.
    private static func row(_ path: String, _ steps: TransformStep...) -> GoodRow {
        row(path) { $0.image.steps = steps }
    }

    private static func row(
        _ path: String, _ change: @escaping @Sendable (inout WebRequest) -> Void
    ) -> GoodRow { GoodRow("/\(path)/\(source)", change) }

    /// Signed paths with unsupported options.
    static let bad = [
        BadRow("/aytmvs0xsHFIn4-cAuJbWfJNpBk=/trim/1x2:3x4/\(source)", 501, "trim"),
        BadRow("/-YEwnIqEW_vJfGrdZIMZe6tpolM=/meta/320x0/\(source)", 501, "meta"),
    ]
}
