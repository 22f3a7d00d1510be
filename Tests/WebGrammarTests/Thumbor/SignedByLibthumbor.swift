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
        GoodRow("/9sNb4xf8rEYdr35rs49ryJnO3No=/\(source)"),
        GoodRow("/uvYC6s0NqmgYwuhO2qnYrUbtcwk=/pics.example.org/b.png") {
            $0.image.url = "http://pics.example.org/b.png"
        },
        GoodRow("/WqEE_ronJFLAW_E2qAEXQKyIOoY=/http://pics.example.org/c.gif") {
            $0.image.url = "http://pics.example.org/c.gif"
        },
        GoodRow("/8Uao1kYcBTOMVCC80CZMJRJOMuI=/320x200/\(source)", .resize(320, 200, .fill)),
        GoodRow(
            "/wVqtYQK0fZVtz1jnWv-uRYLzilM=/320x0/\(source)", .resize(320, 0, .fit, enlarges: true)),
        GoodRow(
            "/SyMv3F-qrDVamanUM20yZq8dByU=/0x200/\(source)", .resize(0, 200, .fit, enlarges: true)),
        GoodRow(
            "/8kFfUH87PalGUkO78Pka8mVw35k=/-320x200/\(source)", .resize(320, 200, .fill), .flipX),
        GoodRow(
            "/zigP2_fT0JDYXhKGeuZR9useYK4=/320x-200/\(source)", .resize(320, 200, .fill), .flipY),
        GoodRow("/dHgN1aB2osrXn_epZU6UEumAts0=/-0x-0/\(source)", .flipXY),
        GoodRow(
            "/v3gVNijuuCgEYzsPJcNtlBFqCCw=/-320x0/\(source)", .resize(320, 0, .fit, enlarges: true),
            .flipX),
    ]

    private static let fits = [
        GoodRow("/l-z-71XVBJY82W77321ncABAA4s=/fit-in/320x200/\(source)", .resize(320, 200, .fit)),
        GoodRow("/YbObgWlzPXx9KGVTHoyc1T3yBlE=/fit-in/320x0/\(source)", .resize(320, 0, .fit)),
        GoodRow(
            "/UuoJ1c1VLKHbwOesMAWlvJ4kXV4=/full-fit-in/320x0/\(source)",
            .resize(320, 0, .fit, enlarges: true)),
        GoodRow(
            "/hs2QF5vefcCmjWvqEunChySPtF8=/adaptive-fit-in/320x320/\(source)",
            .resize(320, 320, .fit)),
        GoodRow(
            "/iRTHKYK7TxyxyHderR-v1j4NHBM=/adaptive-full-fit-in/0x200/\(source)",
            .resize(0, 200, .fit, enlarges: true)),
        GoodRow(
            "/VgBV1qm63GsOzU7TSjjByRH66qg=/320x0/left/\(source)",
            .resize(320, 0, .fit, enlarges: true)),
        GoodRow(
            "/w_tAqktZiKJBQHdgNF4STVg60nU=/0x200/top/smart/\(source)",
            .resize(0, 200, .fit, enlarges: true)),
    ]

    private static let cuts = [
        GoodRow("/GeSMZ08btL28EBg0feEAR0w6bD4=/10x20:110x220/\(source)", .crop(10, 20, 100, 200)),
        GoodRow(
            "/eFVBX2m0AwEBp13eLYdWSHxEPaE=/10x20:110x220/50x0/\(source)", .crop(10, 20, 100, 200),
            .resize(50, 0, .fit, enlarges: true)),
        GoodRow("/qv8mCSKE4VvwDyKmCFiD-JbBcEY=/trim/\(source)", .trim(tolerance: 0)),
        GoodRow("/gDToPKrcPonRus_9Nz3pbXtHO_c=/trim:top-left/\(source)", .trim(tolerance: 0)),
        GoodRow("/DR1ToQ6UpcEqokSc3cnhbE3zBJQ=/trim:top-left:12/\(source)", .trim(tolerance: 12)),
        GoodRow("/W3Lua_lKVxwgRRKNFeNSWqqIDvM=/trim::12/\(source)", .trim(tolerance: 12)),
        GoodRow(
            "/qf-EAMTN5SxtfdJU9VOpS8KzTag=/origx200/top/filters:no_upscale()/\(source)",
            .cropTo(100%, 200, .at(0.5, 0))),
    ]

    private static let others = [
        GoodRow("/Gs4F0C5VkiKtPCVX3G3cO5ZKSKM=/meta/\(source)") {
            $0.kind = .properties
            $0.image.infoOnly = true
        },
        GoodRow("/ChN6hDXHFk27X9VF9cvYcfCTAas=/filters:quality(45):format(webp)/\(source)") {
            $0.image.output = OutputOptions(format: .webp, quality: 45)
        },
        GoodRow(
            "/Vy1vxCs9SVI_yIOBXBBSc5wABKs=/320x200/filters:no_upscale():grayscale()/\(source)",
            .resize(320, 200, .fill, enlarges: false), .grayscale),
        GoodRow(
            "/KABRPCaVEDzuJXRhdLECBT2tHpE=/fit-in/320x200/filters:fill(336699)/\(source)",
            .resize(320, 200, .fit), .pad(PixelSize(320, 200), .center, Color(argb: 0xFF33_6699))),
        GoodRow(
            "/a-2kcQtD3SrUzXxgus3chiLaBgM=/fit-in/320x200/filters:upscale():blur(4)/\(source)",
            .resize(320, 200, .fit, enlarges: true), .blur(radius: 4)),
        GoodRow(
            "/alV-vyK2lt3A9CgWuNjHQaD8DU0=/filters:watermark(http://pics.example.org/m.png,-5,"
                + "center,25):max_age(90)/\(source)"
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
        GoodRow(
            "/hqIQqXz3A51Qsid5vU31PP_9aS4=/filters:round_corner(12,255,0,0):strip_exif()/\(source)"
        ) {
            $0.image.output.metadata = .nothing
            $0.image.steps = [.round(radius: 12), .flatten(Color(argb: 0xFFFF_0000))]
        },
    ]

    private static let places = [
        GoodRow(
            "/of7II3VzB4KrEruESrtHfW-cGcY=/full-fit-in/320x200/\(source)", .resize(320, 200, .cover)
        ),
        GoodRow(
            "/85aTJFEI8OVp37T1f0Mg7Kr6mEQ=/adaptive-fit-in/320x200/\(source)",
            .resize(320, 200, .fitTurned)),
        GoodRow(
            "/XGr8qOwpTbGfps0BFZpI-8mmfxQ=/320x200/right/\(source)", .resize(320, 200, .cover),
            .cropTo(320, 200, .at(1, 0.5))),
        GoodRow(
            "/gWpXF7ftX-OdMi99vnVL0sgkdU8=/320x200/bottom/\(source)", .resize(320, 200, .cover),
            .cropTo(320, 200, .at(0.5, 1))),
        GoodRow(
            "/eYn6JrX2qOwMUBjqkKJ-kIa537U=/320x200/smart/\(source)", .resize(320, 200, .cover),
            .cropTo(320, 200, .attention)),
        GoodRow(
            "/UOvVVr76qyMWmC_B6zgXtHCwzRM=/trim:bottom-right:12/\(source)", .flipXY,
            .trim(tolerance: 12), .flipXY),
        GoodRow("/ypOvHg3QIl3_MhWMANK03gF_K84=/origx200/\(source)", .resizeTo(100%, 200, .fill)),
        GoodRow("/hPqFpQslvXFUaWi9QXuMxpSo4zQ=/filters:focal(1x2:3x4)/\(source)"),
    ]

    /// Signed paths with unsupported options.
    static let bad =
        BadRow.table(
            """

            """) + [
            BadRow("/aytmvs0xsHFIn4-cAuJbWfJNpBk=/trim/1x2:3x4/\(source)", 501, "trim"),
            BadRow("/-YEwnIqEW_vJfGrdZIMZe6tpolM=/meta/320x0/\(source)", 501, "meta"),
        ]
}
