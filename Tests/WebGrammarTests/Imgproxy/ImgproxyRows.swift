import Model
import WebGrammar

/// The options of imgproxy, each with its result.
enum ImgproxyRows {
    static let good = sizes + cuts + offsets + looks + files + answers

    private static let sizes = [
        GoodRow("rs:fit:300:400", .resize(PixelSize(300, 400), .fit)),
        GoodRow("resize:fill:300:400:1", .resize(PixelSize(300, 400), .fill)),
        GoodRow("rs:fill:300:400", .resize(PixelSize(300, 400), .fill, enlarges: false)),
        GoodRow("rs::300:400:t", .resize(PixelSize(300, 400), .fit, enlarges: true)),
        GoodRow(
            "rs:fit:300:400:0:1:no", .resize(PixelSize(300, 400), .fit),
            .pad(PixelSize(300, 400), .point(x: 0.5, y: 0), .clear)),
        GoodRow("s:300", .resize(PixelSize(300, 0), .fit)),
        GoodRow("size::400:1", .resize(PixelSize(0, 400), .fit, enlarges: true)),
        GoodRow("s:300:400/s::500", .resize(PixelSize(300, 500), .fit)),
        GoodRow(
            "rt:force/s:30:40", .resize(PixelSize(30, 40), .reshape)),
        GoodRow("rs:force:30:40:1", .resize(PixelSize(30, 40), .stretch)),
        GoodRow(
            "rs:force:30",
            .resizeTo(
                RelativeSize(width: .pixels(30), height: .percent(100)), .reshape,
                enlarges: false)),
        GoodRow(
            "rs:force::40:1/z:2:0.5",
            .resizeTo(
                RelativeSize(width: .percent(200), height: .pixels(20)), .stretch,
                enlarges: true)),
        GoodRow("rs:auto:30:40", .resize(PixelSize(30, 40), .auto), cut(30, 40, .center)),
        GoodRow(
            "rt:auto/s:30:40:1/g:sm", .resize(PixelSize(30, 40), .auto, enlarges: true),
            cut(30, 40, .attention)),
        GoodRow(
            "rt:fill-down/s:30:40", .resize(PixelSize(30, 40), .cover, enlarges: false),
            .cropRatio(AspectRatio(width: 30, height: 40), .center)),
        GoodRow(
            "rs:fill:30:40/dpr:2", .resize(PixelSize(60, 80), .cover, enlarges: false),
            .cropRatio(AspectRatio(width: 60, height: 80), .center)),
        GoodRow(
            "resizing_type:fill-down/s:30:40:1", .resize(PixelSize(30, 40), .fill)),
        GoodRow("w:300", .resize(PixelSize(300, 0), .fit)),
        GoodRow("width:300/w:0"),
        GoodRow("h:400", .resize(PixelSize(0, 400), .fit)),
        GoodRow("height:400", .resize(PixelSize(0, 400), .fit)),
        GoodRow("mw:0"), GoodRow("min-height:0/mh:0/min-width:0"),
        GoodRow("mw:10", .resizeTo(all, .stretch, least: PixelSize(10, 0))),
        GoodRow("mh:10/dpr:2", .resizeTo(all, .stretch, least: PixelSize(0, 10))),
        GoodRow(
            "min-width:10/min-height:20/w:30",
            .resizeTo(
                RelativeSize(width: .pixels(30), height: .pixels(0)), .fit, enlarges: false,
                least: PixelSize(10, 20)),
            .cropTo(RelativeSize(width: .pixels(30), height: .percent(100)), .center)),
        GoodRow(
            "mw:50/rs:fill:30:40/g:no/dpr:0.5",
            .resizeTo(
                RelativeSize(width: .pixels(15), height: .pixels(20)), .cover, enlarges: false,
                least: PixelSize(25, 0)), cut(15, 20, .point(x: 0.5, y: 0))),
        GoodRow(
            "mh:50/rs:force:30:40",
            .resizeTo(
                RelativeSize(width: .pixels(30), height: .pixels(40)), .reshape, enlarges: false,
                least: PixelSize(0, 50)), cut(30, 40, .center)),
        GoodRow("z:1.5/s:300:400", .resize(PixelSize(450, 600), .fit)),
        GoodRow(
            "zoom:2:0.5/rs:force:300:400", .resize(PixelSize(600, 200), .reshape)),
        GoodRow("z:2"), GoodRow("z:0.5", .resizeTo(part(50, 50), .stretch)),
        GoodRow("z:2/el:1", .resizeTo(part(200, 200), .stretch)),
        GoodRow("z:1:4", .resizeTo(part(25, 100), .stretch)),
        GoodRow("z:2/dpr:0.5", .resizeTo(part(50, 50), .stretch)),
        GoodRow("z:0.5/dpr:4"), GoodRow("z:0.5/dpr:1.5", .resizeTo(part(75, 75), .stretch)),
        GoodRow(
            "z:1:2/w:30", .resizeTo(part(50, 100), .stretch), .resize(PixelSize(30, 0), .fit)),
        GoodRow(
            "z:2:1/rs:fill:30:40:1/g:ea", .resizeTo(part(100, 50), .stretch),
            .resize(PixelSize(60, 40), .cover), cut(60, 40, .point(x: 1, y: 0.5))),
        GoodRow("dpr:2/s:300:401", .resize(PixelSize(600, 802), .fit)),
        GoodRow("dpr:2"), GoodRow("dpr:0.5", .resizeTo(part(50, 50), .stretch)),
        GoodRow("dpr:3/el:1", .resizeTo(part(300, 300), .stretch)),
        GoodRow("el:1/w:300", .resize(PixelSize(300, 0), .fit, enlarges: true)),
        GoodRow("enlarge:true/w:300", .resize(PixelSize(300, 0), .fit, enlarges: true)),
        GoodRow(
            "ex:1/s:300:400", .resize(PixelSize(300, 400), .fit),
            .pad(PixelSize(300, 400), .center, .clear)),
        GoodRow(
            "extend:1:soea/w:300", .resize(PixelSize(300, 0), .fit),
            .pad(PixelSize(300, 1), .point(x: 1, y: 1), .clear)),
        GoodRow("ex:0/s:300:400", .resize(PixelSize(300, 400), .fit)),
        GoodRow("ex:1"),
        GoodRow(
            "ex:1:fp:0.5:0.25/s:30:40", .resize(PixelSize(30, 40), .fit),
            .pad(PixelSize(30, 40), .pixel(x: 15, y: 10), .clear)),
        GoodRow(
            "ex:1:no:0.1:5/s:30:40/dpr:2", .resize(PixelSize(60, 80), .fit),
            .pad(PixelSize(60, 80), moved(0.5, 0, .percent(10), .pixels(10)), .clear)),
        GoodRow(
            "exar:1:we/s:300:400:1", .resize(PixelSize(300, 400), .fit, enlarges: true),
            .padRatio(AspectRatio(width: 300, height: 400), .point(x: 0, y: 0.5), .clear)),
        GoodRow(
            "exar:1:so:0:4/s:300:400", .resize(PixelSize(300, 400), .fit),
            .padRatio(
                AspectRatio(width: 300, height: 400), moved(0.5, 1, .percent(0), .pixels(4)), .clear
            )),
        GoodRow("extend_ar:1"), GoodRow("extend_aspect_ratio:0"),
    ]

    private static let cuts = [
        GoodRow("g:ce/rs:fill:30:40:1", .resize(PixelSize(30, 40), .fill)),
        GoodRow("gravity:sm/rs:fit:30:40", .resize(PixelSize(30, 40), .fit)),
        GoodRow(
            "c:100:200",
            .cropTo(RelativeSize(width: .pixels(100), height: .pixels(200)), .center)),
        GoodRow(
            "crop:0.5:0/g:sm",
            .cropTo(RelativeSize(width: .percent(50), height: .percent(100)), .attention)),
        GoodRow(
            "c:100:200:fp:0.25:0.75",
            .cropTo(
                RelativeSize(width: .pixels(100), height: .pixels(200)),
                .point(x: 0.25, y: 0.75))),
        GoodRow(
            "c:100:200:nowe:300:400",
            cut(100, 200, moved(0, 0, .pixels(300), .pixels(400)))),
        GoodRow(
            "crop:1:2:ea:5:-0.5/dpr:2/w:9", cut(1, 2, moved(1, 0.5, .pixels(5), .percent(-50))),
            .resize(PixelSize(18, 0), .fit)),
        GoodRow(
            "g:soea:3:4/c:0.5:0.5/rs:fill:30:40:1",
            .cropTo(
                RelativeSize(width: .percent(50), height: .percent(50)),
                moved(1, 1, .pixels(3), .pixels(4))),
            .resize(PixelSize(30, 40), .cover), cut(30, 40, moved(1, 1, .pixels(3), .pixels(4)))),
        GoodRow(
            "rs:fill:30:40/g:sm", .resize(PixelSize(30, 40), .cover, enlarges: false),
            cut(30, 40, .attention)),
        GoodRow(
            "g:fp:0.25:1/rs:fill:30:40:1", .resize(PixelSize(30, 40), .cover),
            cut(30, 40, .point(x: 0.25, y: 1))),
        GoodRow("c:0:0"),
        GoodRow("t:20", .trim(tolerance: 20)),
        GoodRow("trim:20:f0a", .trim(tolerance: 20, Color(argb: 0xFFFF_00AA))),
        GoodRow("t:20/t:"),
        GoodRow(
            "pd:10", .extend(Margins(left: 10, top: 10, right: 10, bottom: 10), .color(.clear))),
        GoodRow(
            "padding:1:2:3:4/dpr:2/w:9", .resize(PixelSize(18, 0), .fit),
            .extend(Margins(left: 8, top: 2, right: 4, bottom: 6), .color(.clear))),
        GoodRow("pd:0"),
        GoodRow("ar:1"), GoodRow("auto_rotate:t"),
        GoodRow("rot:90", .rotate(Rotation(degreesClockwise: 90))),
        GoodRow("rotate:-90", .rotate(Rotation(degreesClockwise: 270))),
        GoodRow("rot:360"),
        GoodRow("fl:1", .flip(horizontal: true, vertical: false)),
        GoodRow("flip::1", .flip(horizontal: false, vertical: true)),
    ]

    /// Offsets between -1 and 1 are fractions of the image, all others are pixels.
    private static let offsets = [
        GoodRow("c:10:20:nowe:1:-1", cut(10, 20, moved(0, 0, .pixels(1), .pixels(-1)))),
        GoodRow("c:10:20:soea:-1:1", cut(10, 20, moved(1, 1, .pixels(-1), .pixels(1)))),
        GoodRow(
            "c:10:20:ea:0.75:-0.75", cut(10, 20, moved(1, 0.5, .percent(75), .percent(-75)))),
        GoodRow(
            "g:no:1:-1/rs:fill:30:40:1/dpr:2", .resize(PixelSize(60, 80), .cover),
            cut(60, 80, moved(0.5, 0, .pixels(2), .pixels(-2)))),
        GoodRow(
            "ex:1:so:-1:1/s:30:40", .resize(PixelSize(30, 40), .fit),
            .pad(PixelSize(30, 40), moved(0.5, 1, .pixels(-1), .pixels(1)), .clear)),
        GoodRow(
            "wm:1:ea:1:-1",
            .overlay(
                Overlay(
                    url: mark, x: 1, y: -1, opacity: 0.8, gravity: .point(x: 1, y: 0.5)))),
        GoodRow(
            "wm:1:ea:-0.75:1",
            .overlay(
                Overlay(
                    url: mark, y: 1, opacity: 0.8,
                    gravity: moved(1, 0.5, .percent(-75), .pixels(0))))),
    ]

    private static let all = part(100, 100)

    private static func part(_ width: Double, _ height: Double) -> RelativeSize {
        RelativeSize(width: .percent(width), height: .percent(height))
    }

    private static func cut(_ width: Int, _ height: Int, _ gravity: Gravity) -> TransformStep {
        .cropTo(RelativeSize(width: .pixels(width), height: .pixels(height)), gravity)
    }

    private static func moved(
        _ x: Double, _ y: Double, _ across: RelativeSize.Side, _ down: RelativeSize.Side
    ) -> Gravity {
        .moved(x: x, y: y, by: GravityOffset(x: across, y: down))
    }

    private static let looks = [
        GoodRow("bg:255:0:128", .flatten(Color(argb: 0xFFFF_0080))),
        GoodRow("background:0af", .flatten(Color(argb: 0xFF00_AAFF))),
        GoodRow("bg:123456/bg:"),
        GoodRow("bl:2.5", .blur(radius: 2.5)),
        GoodRow("blur:0"),
        GoodRow("sh:0.7", .sharpen(radius: 0.7)),
        GoodRow("sharpen:0"),
        GoodRow("pix:10", .pixelate(10)),
        GoodRow("pixelate:1"),
        GoodRow(
            "wm:0.5:soea:10:20:0.25",
            .overlay(
                Overlay(
                    url: mark, x: 10, y: 20, opacity: 0.4, gravity: .point(x: 1, y: 1),
                    size: RelativeSize(width: .percent(25), height: .percent(25))))),
        GoodRow("watermark:1", .overlay(Overlay(url: mark, opacity: 0.8, gravity: .center))),
        GoodRow("wm:1:re", .overlay(Overlay(url: mark, opacity: 0.8, repeats: true))),
        GoodRow("wm:0"),
        GoodRow(
            "wm:1:ea:0.5:-7/dpr:2/w:9", .resize(PixelSize(18, 0), .fit),
            .overlay(
                Overlay(
                    url: mark, y: -14, opacity: 0.8,
                    gravity: moved(1, 0.5, .percent(50), .pixels(0))))),
    ]

    private static let files = [
        GoodRow("q:70") { $0.image.output.quality = 70 },
        GoodRow("quality:0") { _ in },
        GoodRow("fq:jpeg:70:webp:60") { $0.formatQualities = [.jpeg: 70, .webp: 60] },
        GoodRow("format_quality:webp:60/f:webp") {
            $0.image.output = OutputOptions(format: .webp, quality: 60)
        },
        GoodRow("fq:webp:60/q:50") { $0.image.output.quality = 50 },
        GoodRow("mb:5000") { $0.image.output.maxBytes = 5_000 },
        GoodRow("max_bytes:0") { _ in },
        GoodRow("f:png") { $0.image.output.format = .png },
        GoodRow("format:jpg") { $0.image.output.format = .jpeg },
        GoodRow("ext:avif") { $0.image.output.format = .avif },
        GoodRow("sm:1") { $0.image.output.metadata = .nothing },
        GoodRow("strip_metadata:0") { $0.image.output.metadata = .all },
        GoodRow("kcr:1/sm:1") { $0.image.output.metadata = .copyright },
        GoodRow("keep_copyright:0") { $0.image.output.metadata = .nothing },
        GoodRow("scp:0") { $0.image.output.keepsProfile = true },
        GoodRow("strip_color_profile:1") {
            _ = $0.image.output.apply(settings: ["icc": "srgb"])
        },
        GoodRow("ph:1/f:avif") {
            $0.image.output.format = .avif
            $0.image.output.keepsHDR = true
        },
        GoodRow("preserve_hdr:0") { _ in },
        GoodRow("skp:jpg:svg") { $0.skippedFormats = [.jpeg, .svg] },
        GoodRow("skip_processing:gif/skp:png") { $0.skippedFormats = [.png] },
        GoodRow("maf:9") { $0.framesMax = 9 },
        GoodRow("max_animation_frames:1") { $0.framesMax = 1 },
        GoodRow("damaged:refuse") { $0.image.context.damaged = .refuse },
        GoodRow("dmg:show") { $0.image.context.damaged = .show },
    ]

    private static let answers = [
        GoodRow("pr:sharp") {
            $0.presets = ["sharp"]
            $0.image.steps = [.sharpen(radius: 0.5)]
        },
        GoodRow("preset:small:sharp/w:90") {
            $0.presets = ["small", "sharp", "sharp"]
            $0.image.steps = [.resize(PixelSize(90, 0), .fit), .sharpen(radius: 0.5)]
            $0.image.output.quality = 40
        },
        GoodRow("cb:abc") { $0.cacheBuster = "abc" },
        GoodRow("cachebuster:") { _ in },
        GoodRow("exp:1800000000") { $0.expires = 1_800_000_000 },
        GoodRow("expires:0") { _ in },
        GoodRow("raw:1/w:300/f:png") { $0.kind = .source },
        GoodRow("fn:a%20b.jpg") { $0.fileName = "a b.jpg" },
        GoodRow("filename:R3LDtsOfZS5wbmc=:1") { $0.fileName = "Größe.png" },
        GoodRow("att:1") { $0.isAttachment = true },
        GoodRow("return_attachment:0") { _ in },
    ]

    static let mark = "https://img.example.org/mark.png"

    static let bad = badSizes + badCuts + badLooks + badFiles + badAnswers

    private static let badSizes = [
        BadRow("rs:fit:300:400:1:1:ce:0:0:9", 400, "rs"),
        BadRow("resize:wide:30:40", 400, "resize"),
        BadRow("s:-1", 400, "s"), BadRow("size:1:2:maybe", 400, "size"),
        BadRow("s:40000", 400, "s"), BadRow("w:99999999999999999999", 400, "w"),
        BadRow("rt:wide/s:30:40", 400, "rt"), BadRow("rs:auto:x:40", 400, "rs"),
        BadRow("rt:fill-down/s:30:40/mw:9", 501, "min-width"),
        BadRow("rs:fill:30:40/dpr:2/mh:9", 501, "min-height"),
        BadRow("resizing_type:", 400, "resizing_type"),
        BadRow("w:1.5", 400, "w"), BadRow("width:", 400, "width"), BadRow("h:x", 400, "h"),
        BadRow("height:1:2", 400, "height"),
        BadRow("mw:x", 400, "mw"), BadRow("min-width:40000", 400, "min-width"),
        BadRow("mh:", 400, "mh"), BadRow("min-height:-1", 400, "min-height"),
        BadRow("mw:32767/dpr:2/w:9", 400, "resize-to"),
        BadRow("z:0", 400, "z"), BadRow("zoom:2:3:4", 400, "zoom"),
        BadRow("z:100/dpr:10/el:1", 400, "resize-to"),
        BadRow("dpr:11/w:9", 400, "dpr"),
        BadRow("dpr:nan", 400, "dpr"), BadRow("dpr:1e999/w:1", 400, "dpr"),
        BadRow("dpr:10/w:32000", 400, "resize"), BadRow("z:100/w:32767", 400, "resize"),
        BadRow("rs:fill:32767:32767:1", 400, "resize"),
        BadRow("el:yes", 400, "el"), BadRow("enlarge:1:1", 400, "enlarge"),
        BadRow("ex:2", 400, "ex"), BadRow("extend:1:sm", 400, "extend"),
        BadRow("ex:1:fp:0.5/s:1:1", 400, "ex"), BadRow("ex:1:no:40000/s:1:1", 400, "ex"),
        BadRow("exar:1:fp:0.5:0.5/s:30:40", 501, "exar"), BadRow("extend_ar:x", 400, "extend_ar"),
        BadRow("extend_aspect_ratio:1:up", 400, "extend_aspect_ratio"),
    ]

    private static let badCuts = [
        BadRow("rs:fill:30:40/g:objw:face:2", 501, "g"),
        BadRow("g:ce:x:5/rs:fill:30:40", 400, "g"),
        BadRow("g:up", 400, "g"), BadRow("g:fp:0.5", 400, "g"), BadRow("g:fp:0.5:1.5", 400, "g"),
        BadRow("g:sm:1", 400, "g"), BadRow("gravity:obj:face", 501, "gravity"),
        BadRow("c:-1:2", 400, "c"), BadRow("crop:1:2:ea:5:y", 400, "crop"),
        BadRow("c:", 400, "c"), BadRow("c:0.5:0.5:obj:face", 501, "c"),
        BadRow("t:-1", 400, "t"), BadRow("trim:10:red", 400, "trim"), BadRow("t:1::1", 501, "t"),
        BadRow("pd:-1", 400, "pd"), BadRow("padding:1:2:3:4:5", 400, "padding"),
        BadRow("ar:0", 501, "ar"), BadRow("auto_rotate:no", 400, "auto_rotate"),
        BadRow("rot:45", 400, "rot"), BadRow("rotate:x", 400, "rotate"),
        BadRow("fl:2", 400, "fl"), BadRow("flip:1:1:1", 400, "flip"),
    ]

    private static let badLooks = [
        BadRow("bg:256:0:0", 400, "bg"), BadRow("background:ggg", 400, "background"),
        BadRow("bg:1:2", 400, "bg"),
        BadRow("bl:1", 501, "bl"), BadRow("blur:-1", 400, "blur"), BadRow("bl:101", 400, "bl"),
        BadRow("sh:x", 400, "sh"), BadRow("sharpen:11", 400, "sharpen"),
        BadRow("sh:0.01", 400, "sharpen"),
        BadRow("pix:1001", 400, "pix"), BadRow("pixelate:", 400, "pixelate"),
        BadRow("wm:2", 400, "wm"), BadRow("watermark:1:up", 400, "watermark"),
        BadRow("wm:1:ch", 501, "wm"), BadRow("wm:1:ce:40000", 400, "wm"),
        BadRow("wm:1:re:5", 501, "wm"), BadRow("wm:1:ce:0:0:2", 501, "wm"),
    ]

    private static let badFiles = [
        BadRow("q:101", 400, "q"), BadRow("quality:", 400, "quality"),
        BadRow("fq:jpeg", 400, "fq"), BadRow("format_quality:blob:1", 400, "format_quality"),
        BadRow("mb:-1", 400, "mb"), BadRow("max_bytes:9999999999", 400, "max_bytes"),
        BadRow("f:heic", 501, "f"), BadRow("format:svg", 501, "format"),
        BadRow("ext:blob", 400, "ext"), BadRow("f:best", 501, "f"), BadRow("f:", 400, "f"),
        BadRow("sm:2", 400, "sm"), BadRow("strip_metadata:", 400, "strip_metadata"),
        BadRow("kcr:2", 400, "kcr"), BadRow("keep_copyright:", 400, "keep_copyright"),
        BadRow("scp:2", 400, "scp"), BadRow("strip_color_profile:", 400, "strip_color_profile"),
        BadRow("ph:2", 400, "ph"), BadRow("preserve_hdr:", 400, "preserve_hdr"),
        BadRow("skp:blob", 400, "skp"), BadRow("skip_processing:psd", 501, "skip_processing"),
        BadRow("damaged:hide", 400, "damaged"), BadRow("dmg:", 400, "dmg"),
        BadRow("maf:0", 400, "maf"), BadRow("max_animation_frames:x", 400, "max_animation_frames"),
    ]

    private static let badAnswers = [
        BadRow("pr:none", 400, "preset"), BadRow("preset:", 400, "preset"),
        BadRow("cb:a:b", 400, "cb"),
        BadRow("cachebuster:" + String(repeating: "a", count: 256), 400, "cachebuster"),
        BadRow("exp:1799999999", 404, "exp"), BadRow("expires:soon", 400, "expires"),
        BadRow("raw:2", 400, "raw"), BadRow("raw:", 400, "raw"),
        BadRow("fn:a%2Fb", 400, "fn"), BadRow("filename:a%0Ab", 400, "filename"),
        BadRow("fn:a%zz", 400, "fn"), BadRow("fn:%25:1", 400, "fn"), BadRow("fn:%FF", 400, "fn"),
        BadRow("att:2", 400, "att"), BadRow("return_attachment:", 400, "return_attachment"),
        BadRow("eth:1", 501, "eth"), BadRow("msr:1", 501, "msr"),
        BadRow("brightness:5", 501, "brightness"), BadRow("width_:5", 400, "width_"),
    ]
}
