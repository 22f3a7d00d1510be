import Model
import WebGrammar

/// The options of imgproxy, each with its result.
enum ImgproxyRows {
    static let good =
        unchanged + sizes + cuts + offsets + looks + colors + watermarks + files + answers

    /// Options that add no step.
    private static let unchanged = [
        "width:300/w:0", "mw:0", "min-height:0/mh:0/min-width:0", "z:2", "z:0.5/dpr:4", "dpr:2",
        "ex:1", "extend_ar:1", "extend_aspect_ratio:0", "c:0:0", "t:20/t:", "pd:0", "ar:1",
        "auto_rotate:t", "rot:360", "bg:123456/bg:", "a:", "br:0", "co:1", "sa:1", "mc:0",
        "dt:0:fff", "a:9:2:0/a::1", "blur:0", "sharpen:0", "pixelate:1", "ush:none",
        "ush:always/ush:none:2", "col:0", "wm:0",
        "quality:0", "max_bytes:0", "preserve_hdr:0", "cachebuster:", "cb:abc", "expires:0",
        "return_attachment:0",
    ].map { GoodRow($0) }

    private static let sizes = [
        GoodRow("rs:fit:300:400", .resize(300, 400, .fit)),
        GoodRow("resize:fill:300:400:1", .resize(300, 400, .fill)),
        GoodRow("rs:fill:300:400", .resize(300, 400, .fill, enlarges: false)),
        GoodRow("rs::300:400:t", .resize(300, 400, .fit, enlarges: true)),
        GoodRow(
            "rs:fit:300:400:0:1:no", .resize(300, 400, .fit),
            .pad(PixelSize(300, 400), .at(0.5, 0), .clear)),
        GoodRow("s:300", .resize(300, 0, .fit)),
        GoodRow("size::400:1", .resize(0, 400, .fit, enlarges: true)),
        GoodRow("s:300:400/s::500", .resize(300, 500, .fit)),
        GoodRow("rt:force/s:30:40", .resize(30, 40, .reshape)),
        GoodRow("rs:force:30:40:1", .resize(30, 40, .stretch)),
        GoodRow("rs:force:30", .resizeTo(30, 100%, .reshape, enlarges: false)),
        GoodRow("rs:force::40:1/z:2:0.5", .resizeTo(200%, 20, .stretch, enlarges: true)),
        GoodRow("rs:auto:30:40", .resize(30, 40, .auto), .cropTo(30, 40, .center)),
        GoodRow(
            "rt:auto/s:30:40:1/g:sm", .resize(30, 40, .auto, enlarges: true),
            .cropTo(30, 40, .attention)),
        GoodRow(
            "rt:fill-down/s:30:40", .resize(30, 40, .cover, enlarges: false),
            .cropRatio(AspectRatio(30, 40), .center)),
        GoodRow(
            "rs:fill:30:40/dpr:2", .resize(60, 80, .cover, enlarges: false),
            .cropRatio(AspectRatio(60, 80), .center)),
        GoodRow("resizing_type:fill-down/s:30:40:1", .resize(30, 40, .fill)),
        GoodRow("w:300", .resize(300, 0, .fit)),
        GoodRow("h:400", .resize(0, 400, .fit)),
        GoodRow("height:400", .resize(0, 400, .fit)),
        GoodRow("mw:10", .resizeTo(100%, 100%, .stretch, least: PixelSize(10, 0))),
        GoodRow("mh:10/dpr:2", .resizeTo(100%, 100%, .stretch, least: PixelSize(0, 10))),
        GoodRow(
            "min-width:10/min-height:20/w:30",
            .resizeTo(30, 0, .fit, enlarges: false, least: PixelSize(10, 20)),
            .cropTo(30, 100%, .center)),
        GoodRow(
            "mw:50/rs:fill:30:40/g:no/dpr:0.5",
            .resizeTo(15, 20, .cover, enlarges: false, least: PixelSize(25, 0)),
            .cropTo(15, 20, .at(0.5, 0))),
        GoodRow(
            "mh:50/rs:force:30:40",
            .resizeTo(30, 40, .reshape, enlarges: false, least: PixelSize(0, 50)),
            .cropTo(30, 40, .center)),
        GoodRow("z:1.5/s:300:400", .resize(450, 600, .fit)),
        GoodRow("zoom:2:0.5/rs:force:300:400", .resize(600, 200, .reshape)),
        GoodRow("z:0.5", .resizeTo(50%, 50%, .stretch)),
        GoodRow("z:2/el:1", .resizeTo(200%, 200%, .stretch)),
        GoodRow("z:1:4", .resizeTo(25%, 100%, .stretch)),
        GoodRow("z:2/dpr:0.5", .resizeTo(50%, 50%, .stretch)),
        GoodRow("z:0.5/dpr:1.5", .resizeTo(75%, 75%, .stretch)),
        GoodRow("z:1:2/w:30", .resizeTo(50%, 100%, .stretch), .resize(30, 0, .fit)),
        GoodRow(
            "z:2:1/rs:fill:30:40:1/g:ea", .resizeTo(100%, 50%, .stretch), .resize(60, 40, .cover),
            .cropTo(60, 40, .at(1, 0.5))),
        GoodRow("dpr:2/s:300:401", .resize(600, 802, .fit)),
        GoodRow("dpr:0.5", .resizeTo(50%, 50%, .stretch)),
        GoodRow("dpr:3/el:1", .resizeTo(300%, 300%, .stretch)),
        GoodRow("el:1/w:300", .resize(300, 0, .fit, enlarges: true)),
        GoodRow("enlarge:true/w:300", .resize(300, 0, .fit, enlarges: true)),
        GoodRow(
            "ex:1/s:300:400", .resize(300, 400, .fit), .pad(PixelSize(300, 400), .center, .clear)),
        GoodRow(
            "extend:1:soea/w:300", .resize(300, 0, .fit), .pad(PixelSize(300, 1), .at(1, 1), .clear)
        ),
        GoodRow("ex:0/s:300:400", .resize(300, 400, .fit)),
        GoodRow(
            "ex:1:fp:0.5:0.25/s:30:40", .resize(30, 40, .fit),
            .pad(PixelSize(30, 40), .pixel(x: 15, y: 10), .clear)),
        GoodRow(
            "ex:1:no:0.1:5/s:30:40/dpr:2", .resize(60, 80, .fit),
            .pad(PixelSize(60, 80), moved(0.5, 0, 10%, 10), .clear)),
        GoodRow(
            "exar:1:we/s:300:400:1", .resize(300, 400, .fit, enlarges: true),
            .padRatio(AspectRatio(300, 400), .at(0, 0.5), .clear)),
        GoodRow(
            "exar:1:so:0:4/s:300:400", .resize(300, 400, .fit),
            .padRatio(AspectRatio(300, 400), moved(0.5, 1, 0%, 4), .clear)),

    ]

    private static let cuts = [
        GoodRow("g:ce/rs:fill:30:40:1", .resize(30, 40, .fill)),
        GoodRow("gravity:sm/rs:fit:30:40", .resize(30, 40, .fit)),
        GoodRow("c:100:200", .cropTo(100, 200, .center)),
        GoodRow("crop:0.5:0/g:sm", .cropTo(50%, 100%, .attention)),
        GoodRow("c:100:200:fp:0.25:0.75", .cropTo(100, 200, .at(0.25, 0.75))),
        GoodRow("c:100:200:nowe:300:400", .cropTo(100, 200, moved(0, 0, 300, 400))),
        GoodRow(
            "crop:1:2:ea:5:-0.5/dpr:2/w:9", .cropTo(1, 2, moved(1, 0.5, 5, (-50)%)),
            .resize(18, 0, .fit)),
        GoodRow(
            "g:soea:3:4/c:0.5:0.5/rs:fill:30:40:1", .cropTo(50%, 50%, moved(1, 1, 3, 4)),
            .resize(30, 40, .cover), .cropTo(30, 40, moved(1, 1, 3, 4))),
        GoodRow(
            "rs:fill:30:40/g:sm", .resize(30, 40, .cover, enlarges: false),
            .cropTo(30, 40, .attention)),
        GoodRow(
            "g:fp:0.25:1/rs:fill:30:40:1", .resize(30, 40, .cover), .cropTo(30, 40, .at(0.25, 1))),
        GoodRow("t:20", .trim(tolerance: 20)),
        GoodRow("trim:20:f0a", .trim(tolerance: 20, Color(argb: 0xFFFF_00AA))),
        GoodRow("t:10::1:0", .trim(tolerance: 10, equal: .horizontal)),
        GoodRow("t:10:::t", .trim(tolerance: 10, equal: .vertical)),
        GoodRow("t:10::1:1", .trim(tolerance: 10, equal: .both)),
        GoodRow(
            "pd:10", .extend(Margins(left: 10, top: 10, right: 10, bottom: 10), .color(.clear))),
        GoodRow(
            "padding:1:2:3:4/dpr:2/w:9", .resize(18, 0, .fit),
            .extend(Margins(left: 8, top: 2, right: 4, bottom: 6), .color(.clear))),
        GoodRow("rot:90", .turn(90)),
        GoodRow("rotate:-90", .turn(270)),
        GoodRow("fl:1", .flipX),
        GoodRow("flip::1", .flipY),
    ]

    /// Offsets between -1 and 1 are fractions of the image, all others are pixels.
    private static let offsets = [
        GoodRow("c:10:20:nowe:1:-1", .cropTo(10, 20, moved(0, 0, 1, -1))),
        GoodRow("c:10:20:soea:-1:1", .cropTo(10, 20, moved(1, 1, -1, 1))),
        GoodRow("c:10:20:ea:0.75:-0.75", .cropTo(10, 20, moved(1, 0.5, 75%, (-75)%))),
        GoodRow(
            "g:no:1:-1/rs:fill:30:40:1/dpr:2", .resize(60, 80, .cover),
            .cropTo(60, 80, moved(0.5, 0, 2, -2))),
        GoodRow(
            "ex:1:so:-1:1/s:30:40", .resize(30, 40, .fit),
            .pad(PixelSize(30, 40), moved(0.5, 1, -1, 1), .clear)),
        GoodRow(
            "wm:1:ea:1:-1",
            .overlay(Overlay(url: mark, x: 1, y: -1, opacity: 0.8, gravity: .at(1, 0.5)))),
        GoodRow(
            "wm:1:ea:-0.75:1",
            .overlay(Overlay(url: mark, y: 1, opacity: 0.8, gravity: moved(1, 0.5, (-75)%, 0)))),
    ]

    private static let looks = [
        GoodRow("bg:255:0:128", .flatten(Color(argb: 0xFFFF_0080))),
        GoodRow("background:0af", .flatten(Color(argb: 0xFF00_AAFF))),
        GoodRow("bl:2.5", .blur(radius: 2.5)),
        GoodRow("bl:0.5", .blur(radius: 0.5)),
        GoodRow("sh:0.7", .sharpen(radius: 0.7)),
        GoodRow("sh:0.01", .sharpen(radius: 0.01)),
        GoodRow("pix:10", .pixelate(10)),
        GoodRow(
            "wm:0.5:soea:10:20:0.25",
            .overlay(
                Overlay(
                    url: mark, x: 10, y: 20, opacity: 0.4, gravity: .at(1, 1),
                    size: RelativeSize(25%, 25%)))),
        GoodRow("watermark:1", .overlay(Overlay(url: mark, opacity: 0.8, gravity: .center))),
        GoodRow("wm:1:re", .overlay(Overlay(url: mark, opacity: 0.8, repeats: true))),
        GoodRow(
            "wm:1:ea:0.5:-7/dpr:2/w:9", .resize(18, 0, .fit),
            .overlay(Overlay(url: mark, y: -14, opacity: 0.8, gravity: moved(1, 0.5, 50%, 0)))),
    ]

    /// The Base64 of "https://h/m.png" is "aHR0cHM6Ly9oL20ucG5n".
    private static let watermarks = [
        GoodRow(
            "wm:1/wmu:aHR0cHM6Ly9oL20ucG5n",
            .overlay(Overlay(url: "https://h/m.png", opacity: 0.8, gravity: .center))),
        GoodRow(
            "watermark_url:aHR0cHM6Ly9oL20ucG5n/wm:1/wmu:",
            .overlay(Overlay(url: mark, opacity: 0.8, gravity: .center))),
        GoodRow("wmu:aHR0cHM6Ly9oL20ucG5n"),
        GoodRow(
            "wms:90:60/wm:1",
            .overlay(
                Overlay(
                    url: mark, opacity: 0.8, gravity: .center, size: RelativeSize(90, 60)))),
        GoodRow(
            "watermark_size::60/wm:1/dpr:2",
            .overlay(
                Overlay(
                    url: mark, opacity: 0.8, gravity: .center, size: RelativeSize(100%, 60)))),
        GoodRow(
            "wms:90/wm:1:ce:0:0:0.5",
            .overlay(
                Overlay(
                    url: mark, opacity: 0.8, gravity: .center, size: RelativeSize(50%, 50%)))),
        GoodRow("wms:0:0/wm:1", .overlay(Overlay(url: mark, opacity: 0.8, gravity: .center))),
    ]

    /// Ranges and defaults are those of the documentation of imgproxy Pro.
    private static let colors = [
        GoodRow("br:51", .brightness(20)), GoodRow("brightness:-255", .brightness(-100)),
        GoodRow("co:0.5", .contrast(-50)), GoodRow("contrast:1.5", .contrast(20)),
        GoodRow("co:0", .contrast(-100)),
        GoodRow("sa:0.5", .modulate(saturation: 0.5)),
        GoodRow("saturation:3", .modulate(saturation: 3)),
        GoodRow("a:51:3", .brightness(20), .contrast(50)),
        GoodRow("co:2/adjust:::0", .modulate(saturation: 0)),
        GoodRow("mc:1", .monochrome(Color(argb: 0xFFB3_B3B3))),
        GoodRow(
            "monochrome:0.5:f0a", .monochrome(Color(argb: 0xFFFF_00AA), intensity: 0.5)),
        GoodRow(
            "dt:1", .colorMatrix(.duotone(dark: Color(argb: 0xFF00_0000), light: .white))),
        GoodRow(
            "duotone:0.5:102030:f0e0d0",
            .colorMatrix(
                .duotone(
                    dark: Color(argb: 0xFF10_2030), light: Color(argb: 0xFFF0_E0D0),
                    intensity: 0.5))),
        // The variance of three pixels in a row, and (32 - 24 + 1) / 24.
        GoodRow("ush:always", .sharpen(radius: (2.0 / 3).squareRoot(), amount: 0.375)),
        GoodRow(
            "unsharp_masking:always:2:12",
            .sharpen(radius: (2.0 / 3).squareRoot(), amount: 1.5)),
        GoodRow("col:1", .tint(Color(argb: 0xFF00_0000), .normal)),
        GoodRow("colorize:0.6:f00:t", .tint(Color(argb: 0x99FF_0000), .sourceAtop)),
    ]

    private static let files = [
        GoodRow("q:70") { $0.image.output.quality = 70 },
        GoodRow("fq:jpeg:70:webp:60") { $0.formatQualities = [.jpeg: 70, .webp: 60] },
        GoodRow("format_quality:webp:60/f:webp") {
            $0.image.output = OutputOptions(format: .webp, quality: 60)
        },
        GoodRow("fq:webp:60/q:50") { $0.image.output.quality = 50 },
        GoodRow("mb:5000") { $0.image.output.maxBytes = 5_000 },
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
        GoodRow("skp:jpg:svg") { $0.skippedFormats = [.jpeg, .svg] },
        GoodRow("skip_processing:gif/skp:png") { $0.skippedFormats = [.png] },
        GoodRow("maf:9") { $0.framesMax = 9 },
        GoodRow("max_animation_frames:1") { $0.framesMax = 1 },
        GoodRow("disable_animation:1/maf:9") { $0.framesMax = 1 },
        GoodRow("da:t/maf:9/da:0") { $0.framesMax = 9 },
        GoodRow("fiu:aHR0cHM6Ly9oL20ucG5n") { $0.fallback = "https://h/m.png" },
        GoodRow("fallback_image_url:aHR0cHM6Ly9oL20ucG5n/fiu:"),
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
        GoodRow("exp:1800000000") { $0.expires = 1_800_000_000 },
        GoodRow("raw:1/w:300/f:png/fiu:aHR0cHM6Ly9oL20ucG5n") { $0.kind = .source },
        GoodRow("fn:a%20b.jpg") { $0.fileName = "a b.jpg" },
        GoodRow("filename:R3LDtsOfZS5wbmc=:1") { $0.fileName = "Größe.png" },
        GoodRow("att:1") { $0.isAttachment = true },

    ]

    static let mark = "https://img.example.org/mark.png"

    static let bad =
        [BadRow("cachebuster:" + String(repeating: "a", count: 256), 400, "cachebuster")]
        + BadRow.table(
            """
            400 * rs:fit:300:400:1:1:ce:0:0:9 rs:auto:x:40 resize:wide:30:40 s:-1 s:40000
            400 * size:1:2:maybe w:99999999999999999999 w:1.5 rt:wide/s:30:40 resizing_type:
            400 * width: h:x height:1:2 mw:x min-width:40000 mh: min-height:-1 z:0 zoom:2:3:4
            400 * dpr:11/w:9 dpr:nan dpr:1e999/w:1 el:yes enlarge:1:1 ex:2 ex:1:fp:0.5/s:1:1
            400 * ex:1:no:40000/s:1:1 extend:1:sm extend_ar:x extend_aspect_ratio:1:up
            400 * g:ce:x:5/rs:fill:30:40 g:up g:fp:0.5 g:fp:0.5:1.5 g:sm:1 c:-1:2 c:
            400 * crop:1:2:ea:5:y t:-1 t:1::2 trim:10:red pd:-1 padding:1:2:3:4:5 auto_rotate:no rot:45
            400 * rotate:x fl:2 flip:1:1:1 bg:256:0:0 bg:1:2 background:ggg blur:-1 bl:101 sh:x
            400 * adjust:1:x a:1:1:1:1 br:256 brightness:1.5 co:-1 contrast: sa:101 saturation:x
            400 * monochrome: mc:1.5 mc:1:red dt:-1 duotone:1:fff:f ush:soft ush:always:0
            400 * unsharp_masking:always:1:0 col:2 colorize:1:fff:maybe
            400 * sharpen:11 pix:1001 pixelate: wm:2 wm:1:ce:40000 watermark:1:up q:101 quality:
            400 * fq:jpeg format_quality:blob:1 mb:-1 max_bytes:9999999999 ext:blob f: sm:2
            400 * strip_metadata: kcr:2 keep_copyright: scp:2 strip_color_profile: ph:2
            400 * preserve_hdr: skp:blob damaged:hide dmg: maf:0 max_animation_frames:x cb:a:b
            400 * expires:soon raw:2 raw: fn:a%2Fb filename:a%0Ab fn:a%zz fn:%25:1 fn:%FF att:2
            400 * return_attachment: width_:5 wmu:a wmu:ZnRwOi8vaC9h watermark_url:+ wms:-1
            400 * watermark_size:1:2:3 wmu:ZGF0YTosYQ wmu:aHR0cDovL3VAaC9h da:2 disable_animation:
            400 * fiu:a fallback_image_url:ZnRwOi8vaC9h
            404 * exp:1799999999
            501 * exar:1:fp:0.5:0.5/s:30:40 gravity:obj:face c:0.5:0.5:obj:face ar:0
            501 * wm:1:ch wm:1:re:5 wm:1:ce:0:0:2 f:heic f:best format:svg skip_processing:psd
            501 * eth:1 msr:1 gradient:1 ush:auto unsharp_masking::2
            400 preset pr:none preset:
            400 resize dpr:10/w:32000 z:100/w:32767 rs:fill:32767:32767:1
            400 resize-to mw:32767/dpr:2/w:9 z:100/dpr:10/el:1
            400 sharpen ush:always:12:1
            501 g rs:fill:30:40/g:objw:face:2
            501 min-height rs:fill:30:40/dpr:2/mh:9
            501 min-width rt:fill-down/s:30:40/mw:9
            """)
}
