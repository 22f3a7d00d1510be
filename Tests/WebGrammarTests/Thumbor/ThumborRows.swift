import Model
import WebGrammar

/// thumbor's filters, each with its result, and the path components that libthumbor doesn't create.
enum ThumborRows {
    static let good = parts + sizes + looks + files

    private static let parts = [
        GoodRow("x"), GoodRow("0x0"), GoodRow("-x-0", .flipXY),
        GoodRow("origxorig"), GoodRow("fit-in/origxorig"),
        GoodRow("fit-in/origx90", .resize(0, 90, .fit)),
        GoodRow("90x", .resize(90, 0, .fit, enlarges: true)),
        GoodRow("center/middle"), GoodRow("90x80/center", .resize(90, 80, .fill)),
        GoodRow("trim:10", .trim(tolerance: 10)),
        GoodRow("90xorig", .resizeTo(90, 100%, .fill)),
        GoodRow(
            "90xorig/filters:no_upscale():stretch()", .resizeTo(90, 100%, .stretch, enlarges: false)
        ),
        GoodRow("origx90/bottom", .resizeTo(100%, 90, .fill, .at(0.5, 1))),
        GoodRow("full-fit-in/origx90", .resizeTo(100%, 90, .cover, enlarges: true)),
        GoodRow("90x80/left/top", .resize(90, 80, .cover), .cropTo(90, 80, .at(0, 0))),
        GoodRow("90x80/middle", .resize(90, 80, .fill)),
        GoodRow("90x80/right/smart", .resize(90, 80, .cover), .cropTo(90, 80, .attention)),
        GoodRow(
            "90x80/bottom/filters:no_upscale()", .resize(90, 80, .cover, enlarges: false),
            .cropTo(90, 80, .at(0.5, 1))),
        GoodRow("90x80/left/filters:stretch()", .resize(90, 80, .stretch)),
        GoodRow("adaptive-fit-in/90x80", .resize(90, 80, .fitTurned)),
        GoodRow("adaptive-full-fit-in/90x80", .resize(90, 80, .coverTurned)),
        GoodRow("full-fit-in/90x80", .resize(90, 80, .cover)),
        GoodRow(
            "full-fit-in/90x80/filters:no_upscale():fill(red)",
            .resize(90, 80, .cover, enlarges: false),
            .pad(PixelSize(90, 80), .center, Color(argb: 0xFFFF_0000))),
        GoodRow("trim:bottom-right:5", .flipXY, .trim(tolerance: 5), .flipXY),
        GoodRow("90xorig/smart/filters:no_upscale()", .cropTo(90, 100%, .attention)),
        GoodRow(
            "trim/-90x80/filters:grayscale()", .trim(tolerance: 0), .resize(90, 80, .fill), .flipX,
            .grayscale),
    ]

    private static let sizes = [
        GoodRow(
            "90x80/smart/filters:focal(10x20:30x60)",
            .resizeTo(90, 80, .fill, enlarges: true, .pixel(x: 20, y: 40))),
        GoodRow(
            "90x80/filters:focal(0x0:10x10):blur(4):focal(10x0:30x10)",
            .resizeTo(90, 80, .fill, enlarges: true, .pixel(x: 15, y: 5)), .blur(radius: 4)),
        GoodRow(
            "10x10:200x200/90x80/filters:focal(10x20:30x60):focal(0x0:5x5)",
            .crop(10, 10, 190, 190), .resizeTo(90, 80, .fill, enlarges: true, .pixel(x: 10, y: 30))),
        GoodRow(
            "100x100:200x200/90x80/left/filters:focal(10x20:30x60)", .crop(100, 100, 100, 100),
            .resize(90, 80, .cover), .cropTo(90, 80, .at(0, 0.5))),
        GoodRow("fit-in/90x80/filters:focal(0x0:9x9)", .resize(90, 80, .fit)),
        GoodRow(
            "90x80/filters:proportion(0.5):fill(red)", .resize(90, 80, .fill),
            .resizeTo(50%, 50%, .stretch), .cropTo(90, 80, .center),
            .pad(PixelSize(90, 80), .center, Color(argb: 0xFFFF_0000))),
        GoodRow(
            "90x80/filters:rotate(90):upscale()", .resize(90, 80, .fill), .turn(270),
            .resize(90, 80, .fit, enlarges: true)),
        GoodRow("fit-in/90x/filters:upscale()", .resize(90, 0, .fit)),
        GoodRow("adaptive-fit-in/origx90", .resizeTo(100%, 90, .fitTurned)),
        GoodRow("filters:proportion(0.5)", .resizeTo(50%, 50%, .stretch)),
        GoodRow(
            "adaptive-fit-in/90x80/filters:upscale()", .resize(90, 80, .fitTurned, enlarges: true)),
        GoodRow("90x80/filters:stretch()", .resize(90, 80, .stretch)),
        GoodRow("90x80/filters:no_upscale():stretch()", .resize(90, 80, .stretch, enlarges: false)),
        GoodRow("90x80/filters:upscale()", .resize(90, 80, .fill)),
        GoodRow(
            "fit-in/90x80/filters:blur(4):upscale()", .resize(90, 80, .fit), .blur(radius: 4),
            .resize(90, 80, .fit, enlarges: true)),
        GoodRow("fit-in/-90x80/filters:upscale()", .resize(90, 80, .fit, enlarges: true), .flipX),
        GoodRow("fit-in/90x80/filters:upscale():no_upscale()", .resize(90, 80, .fit)),
        GoodRow(
            "fit-in/90x/filters:fill(white,1)", .resize(90, 0, .fit),
            .pad(PixelSize(90, 1), .center, .white), .flatten(.white)),
        GoodRow(
            "fit-in/90x80/filters:fill(transparent)", .resize(90, 80, .fit),
            .pad(PixelSize(90, 80), .center, .clear)),
        GoodRow("90x80/filters:fill(red)", .resize(90, 80, .fill)),
        GoodRow("filters:rotate(-90)", .turn(90)),
        GoodRow("filters:rotate(720)"),
    ]

    private static let looks = [
        GoodRow("filters:blur(4)", .blur(radius: 4)),
        GoodRow("filters:blur(1,%202.5)", .blur(radius: 2.5)),
        GoodRow("filters:sharpen(1.0,0.5,false)", .sharpen(radius: 0.5)),
        GoodRow("filters:brightness(20)", .brightness(20)),
        GoodRow("filters:contrast(-50)", .contrast(-75)),
        GoodRow("filters:grayscale()", .grayscale),
        GoodRow("filters:round_corner(9,1,2,3,true)", .round(radius: 9)),
        GoodRow(
            "filters:round_corner(9,1,2,3,0)", .round(radius: 9), .flatten(Color(argb: 0xFF01_0203))
        ),
        GoodRow("filters:background_color(Navy)", .flatten(Color(argb: 0xFF00_0080))),
        GoodRow("filters:background_color(fa0)", .flatten(Color(argb: 0xFFFF_AA00))),
        GoodRow(
            "filters:watermark(h.example.org/m.png,3,-4,0)",
            .overlay(Overlay(url: "http://h.example.org/m.png", x: 3, y: 4, gravity: .at(0, 1)))),
        GoodRow(
            "filters:watermark(h/m.png,5p,-20p,0)",
            .overlay(Overlay(url: "http://h/m.png", gravity: moved(0, 1, 5%, 20%)))),
        GoodRow(
            "filters:watermark(h/m.png,-3,center,0):watermark(h/m.png,-3,-0p,0)",
            .overlay(Overlay(url: "http://h/m.png", x: 3, gravity: .at(1, 0.5))),
            .overlay(Overlay(url: "http://h/m.png", x: 3, gravity: moved(1, 1, 0, 0%)))),
        GoodRow(
            "filters:watermark('https://h/a,b.png',-0,0,100,30,none)",
            .overlay(
                Overlay(
                    url: "https://h/a,b.png", opacity: 0, gravity: .at(1, 0),
                    size: RelativeSize(30%, 100%)))),
        GoodRow(
            "filters:watermark(https%3A%2F%2Fh%2Fa%2Cb.png,repeat,repeat,50)",
            .overlay(Overlay(url: "https://h/a,b.png", opacity: 0.5, repeats: true))),
    ]

    private static let files = [
        GoodRow("filters:format(jpg)") { $0.image.output.format = .jpeg },
        GoodRow("filters:quality(0)") { $0.image.output.quality = 0 },
        GoodRow("filters:max_bytes(900)") { $0.image.output.maxBytes = 900 },
        GoodRow("filters:damaged(refuse)") { $0.image.context.damaged = .refuse },
        GoodRow("filters:max_age(0)") { $0.maxAge = 0 },
        GoodRow("filters:strip_exif()") { $0.image.output.metadata = .nothing },
        GoodRow("filters:strip_icc()") { _ = $0.image.output.apply(settings: ["icc": "srgb"]) },
    ]

    static let bad =
        BadRow.table(
            """
            400 * trim:256 trim:top-left:x trim:1:2:3 trim:bottom-right:256 filters:focal(5x5:1x9)
            400 * filters:focal(5x5) filters:focal(1x2:3xa) filters:proportion(0)
            400 * filters:proportion(1.5) filters:none() filters:quality(5:) filters:quality(101)
            400 * filters:no_upscale(1) filters:stretch(1) filters:upscale(1) filters:fill()
            400 * filters:fill(plaid) filters:rotate(45) filters:blur(0) filters:sharpen(1)
            400 * filters:brightness(101) filters:contrast(x) filters:grayscale(1)
            400 * filters:round_corner(9,1,2) filters:background_color(%23fff)
            400 * filters:watermark(http://h/m,0,0) filters:watermark(http://h/m,101p,0,0)
            400 * filters:watermark(ftp://h/m,0,0,0) filters:watermark(http://h/m,0,0,0,101)
            400 * filters:format(x) filters:max_bytes(0) filters:damaged(hide) filters:max_age(-1)
            400 * filters:strip_exif(1) filters:strip_icc(1)
            501 * debug filters:fill(auto) filters:fill(blur) filters:focal(0.1x0.1:0.2x0.2)
            501 * filters:blur(1) filters:sharpen(2,1,false) filters:sharpen(1,1,true)
            501 * filters:round_corner(9|8,1,2,3) filters:watermark(http://h/m,repeat,0,0)
            501 * filters:format(heic) filters:saturation(1.2) filters:extract_focal()
            400 crop 9x9:8x10 0x0:40000x1
            400 filters filters:grayscale(
            400 overlay filters:watermark(http://u@h/m,0,0,0)
            400 size 40000x1 99999999999999999999x
            501 fill adaptive-fit-in/9x8/filters:fill(red) fit-in/origx9/filters:fill(red)
            501 focal trim/9x8/filters:focal(1x1:2x2)
            501 meta meta/filters:quality(5)
            501 trim trim/1x1:9x9
            """) + [BadRow("filters:)", 400, "")]
}
