import Model
import WebGrammar

/// thumbor's filters, each with its result, and the path components that libthumbor doesn't create.
enum ThumborRows {
    static let good = parts + sizes + looks + files

    private static let parts = [
        GoodRow("x"), GoodRow("0x0"), GoodRow("-x-0", .flip(horizontal: true, vertical: true)),
        GoodRow("origxorig"), GoodRow("fit-in/origxorig"),
        GoodRow("fit-in/origx90", .resize(PixelSize(0, 90), .fit)),
        GoodRow("90x", .resize(PixelSize(90, 0), .fit, enlarges: true)),
        GoodRow("center/middle"), GoodRow("90x80/center", .resize(PixelSize(90, 80), .fill)),
        GoodRow("trim:10", .trim(tolerance: 10)),
        GoodRow(
            "90xorig", .resizeTo(RelativeSize(width: .pixels(90), height: .percent(100)), .fill)),
        GoodRow(
            "90xorig/filters:no_upscale():stretch()",
            .resizeTo(
                RelativeSize(width: .pixels(90), height: .percent(100)), .stretch,
                enlarges: false)),
        GoodRow(
            "origx90/bottom",
            .resizeTo(
                RelativeSize(width: .percent(100), height: .pixels(90)), .fill,
                .point(x: 0.5, y: 1))),
        GoodRow(
            "full-fit-in/origx90",
            .resizeTo(
                RelativeSize(width: .percent(100), height: .pixels(90)), .cover, enlarges: true)),
        GoodRow("90x80/left/top", .resize(PixelSize(90, 80), .cover), cut(.point(x: 0, y: 0))),
        GoodRow("90x80/middle", .resize(PixelSize(90, 80), .fill)),
        GoodRow("90x80/right/smart", .resize(PixelSize(90, 80), .cover), cut(.attention)),
        GoodRow(
            "90x80/bottom/filters:no_upscale()",
            .resize(PixelSize(90, 80), .cover, enlarges: false), cut(.point(x: 0.5, y: 1))),
        GoodRow("90x80/left/filters:stretch()", .resize(PixelSize(90, 80), .stretch)),
        GoodRow("adaptive-fit-in/90x80", .resize(PixelSize(90, 80), .fitTurned)),
        GoodRow("adaptive-full-fit-in/90x80", .resize(PixelSize(90, 80), .coverTurned)),
        GoodRow("full-fit-in/90x80", .resize(PixelSize(90, 80), .cover)),
        GoodRow(
            "full-fit-in/90x80/filters:no_upscale():fill(red)",
            .resize(PixelSize(90, 80), .cover, enlarges: false),
            .pad(PixelSize(90, 80), .center, Color(argb: 0xFFFF_0000))),
        GoodRow(
            "trim:bottom-right:5", .flip(horizontal: true, vertical: true), .trim(tolerance: 5),
            .flip(horizontal: true, vertical: true)),
        GoodRow(
            "90xorig/smart/filters:no_upscale()",
            .cropTo(RelativeSize(width: .pixels(90), height: .percent(100)), .attention)),
        GoodRow(
            "trim/-90x80/filters:grayscale()", .trim(tolerance: 0),
            .resize(PixelSize(90, 80), .fill), .flip(horizontal: true, vertical: false),
            .grayscale),
    ]

    private static func cut(_ gravity: Gravity) -> TransformStep {
        .cropTo(RelativeSize(width: .pixels(90), height: .pixels(80)), gravity)
    }

    private static func filled(_ gravity: Gravity) -> TransformStep {
        .resizeTo(
            RelativeSize(width: .pixels(90), height: .pixels(80)), .fill, enlarges: true, gravity)
    }

    private static let sizes = [
        GoodRow("90x80/smart/filters:focal(10x20:30x60)", filled(.pixel(x: 20, y: 40))),
        GoodRow(
            "90x80/filters:focal(0x0:10x10):blur(4):focal(10x0:30x10)",
            filled(.pixel(x: 15, y: 5)), .blur(radius: 4)),
        GoodRow(
            "10x10:200x200/90x80/filters:focal(10x20:30x60):focal(0x0:5x5)",
            .crop(PixelRect(x: 10, y: 10, size: PixelSize(190, 190))),
            filled(.pixel(x: 10, y: 30))),
        GoodRow(
            "100x100:200x200/90x80/left/filters:focal(10x20:30x60)",
            .crop(PixelRect(x: 100, y: 100, size: PixelSize(100, 100))),
            .resize(PixelSize(90, 80), .cover), cut(.point(x: 0, y: 0.5))),
        GoodRow("fit-in/90x80/filters:focal(0x0:9x9)", .resize(PixelSize(90, 80), .fit)),
        GoodRow(
            "90x80/filters:proportion(0.5):fill(red)", .resize(PixelSize(90, 80), .fill),
            .resizeTo(RelativeSize(width: .percent(50), height: .percent(50)), .stretch),
            cut(.center), .pad(PixelSize(90, 80), .center, Color(argb: 0xFFFF_0000))),
        GoodRow(
            "90x80/filters:rotate(90):upscale()", .resize(PixelSize(90, 80), .fill),
            .rotate(Rotation(degreesClockwise: 270)),
            .resize(PixelSize(90, 80), .fit, enlarges: true)),
        GoodRow("fit-in/90x/filters:upscale()", .resize(PixelSize(90, 0), .fit)),
        GoodRow(
            "adaptive-fit-in/origx90",
            .resizeTo(RelativeSize(width: .percent(100), height: .pixels(90)), .fitTurned)),
        GoodRow(
            "filters:proportion(0.5)",
            .resizeTo(RelativeSize(width: .percent(50), height: .percent(50)), .stretch)),
        GoodRow(
            "adaptive-fit-in/90x80/filters:upscale()",
            .resize(PixelSize(90, 80), .fitTurned, enlarges: true)),
        GoodRow("90x80/filters:stretch()", .resize(PixelSize(90, 80), .stretch)),
        GoodRow(
            "90x80/filters:no_upscale():stretch()",
            .resize(PixelSize(90, 80), .stretch, enlarges: false)),
        GoodRow("90x80/filters:upscale()", .resize(PixelSize(90, 80), .fill)),
        GoodRow(
            "fit-in/90x80/filters:blur(4):upscale()", .resize(PixelSize(90, 80), .fit),
            .blur(radius: 4), .resize(PixelSize(90, 80), .fit, enlarges: true)),
        GoodRow(
            "fit-in/-90x80/filters:upscale()",
            .resize(PixelSize(90, 80), .fit, enlarges: true),
            .flip(horizontal: true, vertical: false)),
        GoodRow(
            "fit-in/90x80/filters:upscale():no_upscale()", .resize(PixelSize(90, 80), .fit)),
        GoodRow(
            "fit-in/90x/filters:fill(white,1)", .resize(PixelSize(90, 0), .fit),
            .pad(PixelSize(90, 1), .center, .white), .flatten(.white)),
        GoodRow(
            "fit-in/90x80/filters:fill(transparent)", .resize(PixelSize(90, 80), .fit),
            .pad(PixelSize(90, 80), .center, .clear)),
        GoodRow("90x80/filters:fill(red)", .resize(PixelSize(90, 80), .fill)),
        GoodRow("filters:rotate(-90)", .rotate(Rotation(degreesClockwise: 90))),
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
            "filters:round_corner(9,1,2,3,0)", .round(radius: 9),
            .flatten(Color(argb: 0xFF01_0203))),
        GoodRow("filters:background_color(Navy)", .flatten(Color(argb: 0xFF00_0080))),
        GoodRow("filters:background_color(fa0)", .flatten(Color(argb: 0xFFFF_AA00))),
        GoodRow(
            "filters:watermark(h.example.org/m.png,3,-4,0)",
            .overlay(
                Overlay(
                    url: "http://h.example.org/m.png", x: 3, y: 4, gravity: .point(x: 0, y: 1)))),
        GoodRow(
            "filters:watermark(h/m.png,5p,-20p,0)",
            .overlay(
                Overlay(
                    url: "http://h/m.png",
                    gravity: .moved(
                        x: 0, y: 1, by: GravityOffset(x: .percent(5), y: .percent(20)))))),
        GoodRow(
            "filters:watermark(h/m.png,-3,center,0):watermark(h/m.png,-3,-0p,0)",
            .overlay(Overlay(url: "http://h/m.png", x: 3, gravity: .point(x: 1, y: 0.5))),
            .overlay(
                Overlay(
                    url: "http://h/m.png", x: 3,
                    gravity: .moved(
                        x: 1, y: 1, by: GravityOffset(x: .pixels(0), y: .percent(0)))))),
        GoodRow(
            "filters:watermark('https://h/a,b.png',-0,0,100,30,none)",
            .overlay(
                Overlay(
                    url: "https://h/a,b.png", opacity: 0, gravity: .point(x: 1, y: 0),
                    size: RelativeSize(width: .percent(30), height: .percent(100))))),
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

    static let bad = [
        BadRow("debug", 501, "debug"), BadRow("trim:256", 400, "trim"),
        BadRow("trim:top-left:x", 400, "trim"), BadRow("trim:1:2:3", 400, "trim"),
        BadRow("9x9:8x10", 400, "crop"), BadRow("0x0:40000x1", 400, "crop"),
        BadRow("40000x1", 400, "size"), BadRow("99999999999999999999x", 400, "size"),
        BadRow("adaptive-fit-in/9x8/filters:fill(red)", 501, "fill"),
        BadRow("trim/9x8/filters:focal(1x1:2x2)", 501, "focal"),
        BadRow("filters:focal(0.1x0.1:0.2x0.2)", 501, "focal"),
        BadRow("filters:focal(5x5:1x9)", 400, "focal"), BadRow("filters:focal(5x5)", 400, "focal"),
        BadRow("filters:focal(1x2:3xa)", 400, "focal"),
        BadRow("filters:proportion(0)", 400, "proportion"),
        BadRow("filters:proportion(1.5)", 400, "proportion"),
        BadRow("trim/1x1:9x9", 501, "trim"), BadRow("trim:bottom-right:256", 400, "trim"),
        BadRow("meta/filters:quality(5)", 501, "meta"),
        BadRow("filters:grayscale(", 400, "filters"), BadRow("filters:)", 400, ""),
        BadRow("filters:none()", 400, "none"), BadRow("filters:quality(5:)", 400, "quality"),
        BadRow("filters:no_upscale(1)", 400, "no_upscale"),
        BadRow("filters:stretch(1)", 400, "stretch"), BadRow("filters:upscale(1)", 400, "upscale"),
        BadRow("filters:fill(auto)", 501, "fill"), BadRow("filters:fill(blur)", 501, "fill"),
        BadRow("filters:fill()", 400, "fill"), BadRow("filters:fill(plaid)", 400, "fill"),
        BadRow("fit-in/origx9/filters:fill(red)", 501, "fill"),
        BadRow("filters:rotate(45)", 400, "rotate"),
        BadRow("filters:blur(1)", 501, "blur"), BadRow("filters:blur(0)", 400, "blur"),
        BadRow("filters:sharpen(2,1,false)", 501, "sharpen"),
        BadRow("filters:sharpen(1,1,true)", 501, "sharpen"),
        BadRow("filters:sharpen(1)", 400, "sharpen"),
        BadRow("filters:brightness(101)", 400, "brightness"),
        BadRow("filters:contrast(x)", 400, "contrast"),
        BadRow("filters:grayscale(1)", 400, "grayscale"),
        BadRow("filters:round_corner(9|8,1,2,3)", 501, "round_corner"),
        BadRow("filters:round_corner(9,1,2)", 400, "round_corner"),
        BadRow("filters:background_color(%23fff)", 400, "background_color"),
        BadRow("filters:watermark(http://h/m,0,0)", 400, "watermark"),
        BadRow("filters:watermark(http://h/m,101p,0,0)", 400, "watermark"),
        BadRow("filters:watermark(http://h/m,repeat,0,0)", 501, "watermark"),
        BadRow("filters:watermark(ftp://h/m,0,0,0)", 400, "watermark"),
        BadRow("filters:watermark(http://u@h/m,0,0,0)", 400, "overlay"),
        BadRow("filters:watermark(http://h/m,0,0,0,101)", 400, "watermark"),
        BadRow("filters:format(heic)", 501, "format"), BadRow("filters:format(x)", 400, "format"),
        BadRow("filters:quality(101)", 400, "quality"),
        BadRow("filters:max_bytes(0)", 400, "max_bytes"),
        BadRow("filters:damaged(hide)", 400, "damaged"),
        BadRow("filters:max_age(-1)", 400, "max_age"),
        BadRow("filters:strip_exif(1)", 400, "strip_exif"),
        BadRow("filters:strip_icc(1)", 400, "strip_icc"),
        BadRow("filters:saturation(1.2)", 501, "saturation"),
        BadRow("filters:extract_focal()", 501, "extract_focal"),
    ]
}
