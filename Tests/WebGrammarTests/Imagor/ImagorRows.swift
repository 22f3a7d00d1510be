import Model
import WebGrammar

/// imagor's path components and filters where they differ from thumbor's, each with its result. The
/// meaning is that of imagor 1.9.5: `imagorpath/parse.go`, `processor/vipsprocessor` and its
/// documentation.
enum ImagorRows {
    static let good = parts + sizes + canvases + looks + overlays + files

    private static let red = Color(argb: 0xFFFF_0000)

    private static let parts = [
        GoodRow("trim", .trim(tolerance: 1)), GoodRow("trim:0", .trim(tolerance: 1)),
        GoodRow("trim:top-left:10", .trim(tolerance: 10)),
        GoodRow("trim:bottom-right", .flipXY, .trim(tolerance: 1), .flipXY),
        GoodRow("10x20:110x220", .crop(10, 20, 100, 200)),
        GoodRow("0.1x0.2:0.6x0.8", .cropTo(50%, 60%, .at(0.35, 0.5))),
        GoodRow(".5x.5:1.0x1", .cropTo(50%, 50%, .at(0.75, 0.75))),
        GoodRow("0x0:1x1"), GoodRow("0x0:0x0"), GoodRow("0.0x0:0x0"),
        GoodRow("0x0:1x0.5", .cropTo(100%, 50%, .at(0.5, 0.25))),
        // 0 is the right or bottom edge.
        GoodRow("0.5x0:0x0", .cropTo(50%, 100%, .at(0.75, 0.5))),
        GoodRow("10x20:0x0", .crop(10, 20, 32_757, 32_747)),
        GoodRow("0x0:0x50", .crop(0, 0, 32_767, 50)),
        GoodRow("fit-in/90x80", .resize(90, 80, .fit)),
        GoodRow("fit-in/90x0", .resize(90, 0, .fit)),
        GoodRow("full-fit-in/90x80", .resize(90, 80, .cover)),
        GoodRow("adaptive-fit-in/90x80", .resize(90, 80, .fitTurned)),
        GoodRow("adaptive-full-fit-in/90x80", .resize(90, 80, .coverTurned)),
        GoodRow("stretch/90x80", .resize(90, 80, .stretch)),
        GoodRow("stretch/-90x80", .resize(90, 80, .stretch), .flipX),
        GoodRow("stretch/90x0", .resize(90, 0, .fit, enlarges: true)),
        GoodRow("stretch"), GoodRow("fit-in/stretch/90x80", .resize(90, 80, .fit)),
        // Margins without a color have no effect.
        GoodRow("90x80/1x2:3x4", .resize(90, 80, .fill)),
        GoodRow("90x80/5x6", .resize(90, 80, .fill)),
        GoodRow("fit-in/0x0/5x6:7x8"), GoodRow("fit-in/5x6:7x8"),
        GoodRow(
            "10x20:110x220/stretch/90x80/1x2/left/top/smart", .crop(10, 20, 100, 200),
            .resize(90, 80, .stretch)),
        GoodRow("90x80/1x2:3x4/left/top", .resize(90, 80, .cover), .cropTo(90, 80, .at(0, 0))),
        GoodRow("90x80/center/middle/smart", .resize(90, 80, .cover), .cropTo(90, 80, .attention)),
    ]

    private static let sizes = [
        GoodRow("fit-in/90x80/filters:upscale()", .resize(90, 80, .fit, enlarges: true)),
        GoodRow(
            "fit-in/90x80/filters:no_upscale():upscale()", .resize(90, 80, .fit, enlarges: true)),
        GoodRow("fit-in/90x80/filters:upscale():no_upscale()", .resize(90, 80, .fit)),
        GoodRow(
            "fit-in/90x80/filters:blur(8):upscale()", .resize(90, 80, .fit, enlarges: true),
            .blur(radius: 4)),
        GoodRow("90x80/filters:no_upscale()", .resize(90, 80, .fill, enlarges: false)),
        GoodRow("90x80/filters:stretch()", .resize(90, 80, .stretch)),
        GoodRow("filters:proportion(50)", .resizeTo(50%, 50%, .stretch)),
        GoodRow("filters:proportion(0.5)", .resizeTo(50%, 50%, .stretch)),
        GoodRow("filters:proportion(1)", .resizeTo(100%, 100%, .stretch)),
        GoodRow("filters:rotate(90)", .turn(270)), GoodRow("filters:rotate(270)", .turn(90)),
        GoodRow("filters:rotate(0)"),
        GoodRow("10x10:20x20/filters:orient(90)", .turn(270), .crop(10, 10, 10, 10)),
        GoodRow("filters:orient(180):grayscale()", .turn(180), .grayscale),
        GoodRow("90x80/filters:crop(1,2,30,40)", .resize(90, 80, .fill), .crop(1, 2, 30, 40)),
        GoodRow("filters:crop(0.1,0.1,0.8,0.8)", .cropTo(80%, 80%, .at(0.5, 0.5))),
        GoodRow("filters:crop(0.5,0,0.75,0.5)", .cropTo(50%, 50%, .at(0.75, 0.25))),
        GoodRow("filters:trim()", .trim(tolerance: 1)),
        GoodRow("filters:trim(9,bottom-right)", .flipXY, .trim(tolerance: 9), .flipXY),
        GoodRow(
            "90x80/filters:focal(10x20:30x60)",
            .resizeTo(90, 80, .fill, enlarges: true, .pixel(x: 20, y: 40))),
        GoodRow(
            "90x80/filters:focal(100,200)",
            .resizeTo(90, 80, .fill, enlarges: true, .pixel(x: 100.5, y: 200.5))),
        GoodRow(
            "90x80/smart/filters:focal(0.25x0.75)",
            .resizeTo(90, 80, .fill, enlarges: true, .at(0.25, 0.75))),
        GoodRow(
            "90x80/filters:focal(0.25x0.5:0.75x1)",
            .resizeTo(90, 80, .fill, enlarges: true, .at(0.5, 0.75))),
        GoodRow(
            "0.5x0:1x1/90x80/filters:focal(0.75,0.5)", .cropTo(50%, 100%, .at(0.75, 0.5)),
            .resizeTo(90, 80, .fill, enlarges: true, .at(0.5, 0.5))),
        // Outside the crop: the nearest edge, where thumbor ignores it.
        GoodRow(
            "100x100:200x200/90x80/filters:focal(10x20:30x160)", .crop(100, 100, 100, 100),
            .resizeTo(90, 80, .fill, enlarges: true, .pixel(x: 0, y: 0))),
    ]

    private static let canvases = [
        GoodRow("filters:fill(red)", .flatten(red)),
        GoodRow("90x80/filters:fill(red)", .resize(90, 80, .fill), .flatten(red)),
        GoodRow(
            "fit-in/90x80/filters:fill(red)", .resize(90, 80, .fit),
            .pad(PixelSize(90, 80), .center, red), .flatten(red)),
        GoodRow(
            "fit-in/90x80/filters:fill(%23ff000080,1)", .resize(90, 80, .fit),
            .pad(PixelSize(90, 80), .center, red), .flatten(red)),
        GoodRow(
            "fit-in/90x80/filters:fill(none)", .resize(90, 80, .fit),
            .pad(PixelSize(90, 80), .center, .clear)),
        GoodRow(
            "fit-in/90x80/1x2:3x4/filters:fill(transparent)", .resize(90, 80, .fit),
            .pad(PixelSize(90, 80), .center, .clear),
            .extend(Margins(left: 1, top: 2, right: 3, bottom: 4), .color(.clear))),
        GoodRow(
            "90x80/5x6/filters:fill(f00)", .resize(90, 80, .fill),
            .extend(Margins(left: 5, top: 6, right: 5, bottom: 6), .color(red)), .flatten(red)),
        GoodRow(
            "fit-in/90x0/filters:fill(red)", .resize(90, 0, .fit),
            .pad(PixelSize(90, 1), .center, red), .flatten(red)),
        GoodRow("full-fit-in/90x80/filters:fill(red)", .resize(90, 80, .cover), .flatten(red)),
        GoodRow(
            "90x80/filters:no_upscale():fill(red)", .resize(90, 80, .fill, enlarges: false),
            .pad(PixelSize(90, 80), .center, red), .flatten(red)),
        // Rotation turns the canvas and its margins.
        GoodRow(
            "fit-in/90x80/1x2:3x4/filters:rotate(90):fill(red)", .resize(90, 80, .fit), .turn(270),
            .pad(PixelSize(80, 90), .center, red),
            .extend(Margins(left: 2, top: 1, right: 4, bottom: 3), .color(red)), .flatten(red)),
        GoodRow(
            "90x80/filters:proportion(50):fill(red)", .resize(90, 80, .fill),
            .resizeTo(50%, 50%, .stretch), .cropTo(90, 80, .center),
            .pad(PixelSize(90, 80), .center, red), .flatten(red)),
        GoodRow(
            "filters:padding(red,5)",
            .extend(Margins(left: 5, top: 5, right: 5, bottom: 5), .color(red)), .flatten(red)),
        GoodRow(
            "filters:padding(red,5,6)",
            .extend(Margins(left: 5, top: 6, right: 5, bottom: 6), .color(red)), .flatten(red)),
        GoodRow(
            "filters:padding(none,1,2,3,4)",
            .extend(Margins(left: 1, top: 2, right: 3, bottom: 4), .color(.clear))),
    ]

    private static let looks = [
        GoodRow("filters:blur(8)", .blur(radius: 4)), GoodRow("filters:blur(0)"),
        GoodRow("filters:blur(1,%202.5)", .blur(radius: 2.5)),
        GoodRow("filters:sharpen(2)", .sharpen(radius: 5)),
        GoodRow("filters:sharpen(9,0.5,true)", .sharpen(radius: 2)),
        GoodRow("filters:brightness(-12.5)", .brightness(-12.5)),
        // The slopes 259 · 306 / (255 · 208) and 259 · 127.5 / (255 · 386.5).
        GoodRow("filters:contrast(20)", .contrast(19.815)),
        GoodRow("filters:contrast(-50)", .contrast(-66.494)),
        GoodRow("filters:contrast(-100)", .contrast(-100)),
        GoodRow("filters:round_corner(9)", .round(radius: 9)),
        GoodRow("filters:round_corner(9,9)", .round(radius: 9)),
        GoodRow("filters:round_corner(9,9,red)", .round(radius: 9), .flatten(red)),
        GoodRow("filters:background_color(%23FF0000)", .flatten(red)),
        GoodRow("filters:pixelate()", .pixelate(10)), GoodRow("filters:pixelate(5)", .pixelate(5)),
        GoodRow("filters:pixelate(1)"), GoodRow("filters:grayscale()", .grayscale),
    ]

    private static func mark(_ text: String, _ overlay: Overlay) -> GoodRow {
        GoodRow("filters:watermark(h/m.png\(text))", .overlay(overlay))
    }

    private static let url = "https://h/m.png"

    private static let overlays = [
        mark("", Overlay(url: url, gravity: .at(0, 0))),
        mark(",3,-4,25", Overlay(url: url, x: 3, y: 4, opacity: 0.75, gravity: .at(0, 1))),
        mark(",-0,0,12.5", Overlay(url: url, opacity: 0.875, gravity: .at(0, 0))),
        mark(",right,bottom,0", Overlay(url: url, gravity: .at(1, 1))),
        mark(",left,top,0", Overlay(url: url, gravity: .at(0, 0))),
        mark(",center,center,100", Overlay(url: url, opacity: 0, gravity: .at(0.5, 0.5))),
        // Minus is outward.
        mark(",left-20,b-5,0", Overlay(url: url, x: -20, y: -5, gravity: .at(0, 1))),
        mark(",r-20,top-5,0", Overlay(url: url, x: -20, y: -5, gravity: .at(1, 0))),
        mark(",5p,-20p,0", Overlay(url: url, gravity: moved(0, 1, 5%, 20%))),
        mark(",0.5,-0.25,0", Overlay(url: url, gravity: moved(0, 1, 50%, 25%))),
        mark(
            ",0,0,0,30,none",
            Overlay(url: url, gravity: .at(0, 0), size: RelativeSize(30%, 100%))),
        mark(",0,0,0,30,0", Overlay(url: url, gravity: .at(0, 0))),
        mark(",repeat,repeat,50", Overlay(url: url, opacity: 0.5, repeats: true)),
        GoodRow(
            "filters:watermark(b64:aHR0cDovL2gvYSgsKS5wbmc,0,0,0)",
            .overlay(Overlay(url: "http://h/a(,).png", gravity: .at(0, 0)))),
        GoodRow(
            "filters:watermark(http://h/a(1,2)/b.png,0,0,0):grayscale()",
            .overlay(Overlay(url: "http://h/a(1,2)/b.png", gravity: .at(0, 0))), .grayscale),
    ]

    private static func row(
        _ text: String, _ change: @escaping @Sendable (inout WebRequest) -> Void
    ) -> GoodRow { GoodRow("filters:\(text)", change) }

    private static let files = [
        row("format(jpeg)") { $0.image.output.format = .jpeg },
        row("format(webp):autojpg()") { $0.image.output.format = .jpeg },
        row("quality(70)") { $0.image.output.quality = 70 }, row("quality(0)") { _ in },
        row("max_bytes(900)") { $0.image.output.maxBytes = 900 },
        row("max_age(60)") { $0.maxAge = 60 },
        row("strip_exif()") { $0.image.output.metadata = .nothing },
        row("strip_icc()") { _ = $0.image.output.apply(settings: ["icc": "srgb"]) },
        row("strip_metadata()") {
            _ = $0.image.output.apply(settings: ["icc": "srgb"])
            $0.image.output.metadata = .nothing
        },
        row("to_colorspace()") { _ = $0.image.output.apply(settings: ["icc": "srgb"]) },
        row("to_colorspace(sRGB)") { _ = $0.image.output.apply(settings: ["icc": "srgb"]) },
        row("page(1)") { _ in },
        row("page(3)") { ($0.image.frame, $0.framesMax) = (2, 1) },
        row("max_frames(1)") { $0.framesMax = 1 },
        row("attachment()") { $0.isAttachment = true },
        row("attachment(a%20b.jpg)") { ($0.isAttachment, $0.fileName) = (true, "a b") },
        row("attachment(v1.2)") { ($0.isAttachment, $0.fileName) = (true, "v1.2") },
        row("expire(1800000000500)") { $0.expires = someMoment },
        row("raw():blur(8):quality(5)") { $0.kind = .source },
        row("preview()") { $0.image.storeCacheTypes = .memory },
        row("damaged(refuse)") { $0.image.context.damaged = .refuse },
        GoodRow("meta/filters:avgcolor():thumbhash()") {
            $0.kind = .properties
            $0.image.infoOnly = true
            $0.image.properties = RequestedProperties([.colors, .thumbHash])
        },
        GoodRow("meta/filters:blurhash(5,4)") {
            $0.kind = .properties
            $0.image.infoOnly = true
            $0.image.properties = RequestedProperties([.blurHash], blurHash: PixelSize(5, 4))
        },
    ]

    static let bad = BadRow.table(
        """
        400 * trim:256 filters:upscale(1) filters:focal(1) filters:focal(5x5:1x9) filters:focal(1,2,3)
        400 * filters:proportion(0) filters:proportion(101) filters:fill() filters:fill(plaid)
        400 * filters:padding(red) filters:padding(red,1,2,3) filters:crop(1,2,3) filters:crop(1,2,0,4)
        400 * filters:trim(1,left) filters:orient(45) filters:orient(-90) filters:rotate(45)
        400 * filters:rotate(450) filters:blur() filters:blur(x) filters:sharpen() filters:brightness(101)
        400 * filters:contrast(x) filters:round_corner() filters:round_corner(9,255,0,0)
        400 * filters:background_color(none) filters:background_color(plaid) filters:pixelate(1001)
        400 * filters:watermark() filters:watermark(http://h/m,101p,0) filters:watermark(http://h/m,l,0)
        400 * filters:watermark(http://h/m,0,0,101) filters:watermark(ftp://h/m,0,0,0)
        400 * filters:quality(101) filters:autojpg(1) filters:strip_metadata(1) filters:page(0)
        400 * filters:max_frames(0) filters:attachment(a%2Fb) filters:expire(soon) filters:raw(1)
        400 * filters:preview(1) filters:avgcolor() filters:thumbhash()
        400 * filters:blurhash(4,3) filters:none() filters:stretch(1)
        404 * filters:expire(1799999999999) filters:expire(0)
        501 * filters:fill(auto) filters:fill(blur) filters:padding(blur,5) filters:background_color(auto)
        501 * filters:crop(0.5,0,10,10) filters:blur(3) filters:blur(1,1.5) filters:sharpen(5)
        501 * filters:round_corner(9,8) filters:to_colorspace(p3) filters:max_frames(2)
        501 * filters:watermark(http://h/m,repeat,0,0) filters:watermark(http://h/m,0,0,0,30)
        501 * filters:format(heic) filters:format(jp2)
        400 crop 9x9:8x10 0.5x10:0.6x20 0.5x0.5:0.4x1
        400 padding 90x80/1x40000
        400 filters filters:grayscale( filters:watermark(h/a(b,0,0,0)
        400 format()jpg filters:format()jpg:blur(8)
        400 avgcolor meta/filters:avgcolor(1)
        400 blurhash meta/filters:blurhash(4,10) meta/filters:blurhash(4)
        400 thumbhash meta/filters:thumbhash(1)
        501 fill adaptive-fit-in/9x8/filters:fill(red) full-fit-in/9x8/filters:no_upscale():fill(red)
        501 fill 9x0/filters:proportion(50):fill(red) full-fit-in/9x8/filters:crop(0,0,1,1):fill(red)
        501 focal 1x2:3x4/9x8/filters:focal(0.5,0.5) 0.1x0.1:1x1/9x8/filters:focal(5,5)
        501 focal 9x8/filters:focal(0.5,0.5):focal(0.1x0.1:0.2x0.2) trim/9x8/filters:focal(1x1:2x2)
        501 meta meta/90x80 meta/filters:page(2)
        501 stretch 90x80/stretch
        501 trim trim/1x1:9x9
        501 origx80 origx80
        """)
}
