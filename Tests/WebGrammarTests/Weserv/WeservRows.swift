import Model
import WebGrammar

/// weserv's parameters, each with its result according to weserv's documentation and code.
enum WeservRows {
    static let good = sizes + positions + crops + regions + looks + files + ignored

    private static let sizes = [
        GoodRow(""), GoodRow("w=300", .resize(300, 0, .fit, enlarges: true)),
        GoodRow("height=300", .resize(0, 300, .fit, enlarges: true)),
        GoodRow("w=300&h=200&fit=inside", .resize(300, 200, .fit, enlarges: true)),
        GoodRow("width=300&h=200&fit=inside&we", .resize(300, 200, .fit)),
        GoodRow("w=300&we=0", .resize(300, 0, .fit, enlarges: true)),
        GoodRow("w=300&h=200&fit=outside", .resize(300, 200, .cover)),
        GoodRow("w=300&h=200&fit=outside&we", .resize(300, 200, .cover, enlarges: false)),
        GoodRow("w=300&h=200&fit=cover", .resize(300, 200, .fill)),
        GoodRow("w=300&h=200&fit=cover&we", .resize(300, 200, .fill, enlarges: false)),
        GoodRow("w=300&fit=cover&a=top", .resize(300, 0, .fill)),
        GoodRow("w=300&h=200&fit=fill", .resize(300, 200, .stretch)),
        GoodRow("w=300&fit=fill&we", .resizeTo(300, 100%, .stretch, enlarges: false)),
        GoodRow(
            "w=300&h=200&fit=contain", .resize(300, 200, .fit, enlarges: true),
            .pad(PixelSize(300, 200), .center, .clear)),
        GoodRow(
            "w=300&h=200&fit=contain&cbg=8f00&a=right&we", .resize(300, 200, .fit),
            .pad(PixelSize(300, 200), .at(1, 0.5), Color(argb: 0x88FF_0000))),
        GoodRow(
            "w=300&fit=contain&a=attention", .resize(300, 0, .fit, enlarges: true),
            .pad(PixelSize(300, 1), .center, .clear)),
        GoodRow("w=50%&h=25%25", .resizeTo(50%, 25%, .fit, enlarges: true)),
        GoodRow("w=50%&fit=cover&h=20", .resizeTo(50%, 20, .fill, enlarges: true)),
        GoodRow("dpr=2&w=150&h=100") {
            $0.image.steps = [.resize(300, 200, .fit, enlarges: true)]
            $0.saysPixelRatio = true
        },
        GoodRow("w=25%&dpr=1.5") {
            $0.image.steps = [.resizeTo(37.5%, 0, .fit, enlarges: true)]
            $0.saysPixelRatio = true
        },
        // Former words.
        GoodRow("w=30&h=20&t=square", .resize(30, 20, .fill)),
        GoodRow("w=30&h=20&t=squaredown", .resize(30, 20, .fill, enlarges: false)),
        GoodRow("w=30&h=20&t=fit", .resize(30, 20, .fit)),
        GoodRow("w=30&h=20&t=fitup", .resize(30, 20, .fit, enlarges: true)),
        GoodRow("w=30&h=20&t=absolute", .resize(30, 20, .stretch)),
        GoodRow(
            "w=30&h=20&t=letterbox", .resize(30, 20, .fit, enlarges: true),
            .pad(PixelSize(30, 20), .center, .clear)),
    ]

    private static func cover(_ gravity: Gravity) -> TransformStep {
        .resizeTo(30, 20, .fill, enlarges: true, gravity)
    }

    private static let positions = [
        GoodRow("w=30&h=20&fit=cover&a=center", .resize(30, 20, .fill)),
        GoodRow("w=30&h=20&fit=cover&a=top", cover(.at(0.5, 0))),
        GoodRow("w=30&h=20&fit=cover&align=bottom-right", cover(.at(1, 1))),
        GoodRow("w=30&h=20&fit=cover&a=top-left", cover(.at(0, 0))),
        GoodRow("w=30&h=20&fit=cover&a=entropy", cover(.entropy)),
        GoodRow("w=30&h=20&fit=cover&a=attention", cover(.attention)),
        GoodRow("w=30&h=20&fit=cover&a=attention&n=-1") {
            $0.image.steps = [.resize(30, 20, .fill)]
            $0.framesMax = nil
        },
        GoodRow("w=30&h=20&fit=cover&a=focal&fpy=0.45", cover(.at(0.5, 0.45))),
        GoodRow("w=30&h=20&fit=cover&a=focal&fpx=0.6&fpy=2", cover(.at(0.6, 0.5))),
        GoodRow("w=30&h=20&fit=cover&a=focal-22-0", cover(.at(0.22, 0))),
        GoodRow("w=30&h=20&fit=cover&a=crop-22", cover(.at(0.22, 0.5))),
    ]

    private static let crops = [
        GoodRow("cx=680&cy=500&cw=300&ch=200", .crop(680, 500, 300, 200)),
        GoodRow("cx=10", .crop(10, 0, 32_767, 32_767)),
        GoodRow("crop=300,200,680,500", .crop(680, 500, 300, 200)),
        GoodRow("crop=300,200,680,500&cx=1", .crop(680, 500, 300, 200)),
        GoodRow("cy=10%25&ch=50%", .cropTo(100%, 50%, moved(0, 0, 0%, 10%))),
        GoodRow(
            "cx=5&cw=7&cy=80%&ch=50%", .crop(5, 0, 7, 32_767),
            .cropTo(100%, 20%, moved(0, 0, 0%, 80%))),
        GoodRow("cw=100%&cx=0"), GoodRow("crop=1,2,3"),
        GoodRow(
            "w=300&cw=100&ch=90", .resize(300, 0, .fit, enlarges: true), .crop(0, 0, 100, 90)),
        GoodRow(
            "precrop&w=300&cw=100&ch=90", .crop(0, 0, 100, 90),
            .resize(300, 0, .fit, enlarges: true)),
        GoodRow(
            "precrop&ro=90&w=30&h=20&fit=cover&a=top&cw=9", .turn(90), .crop(0, 0, 9, 32_767),
            cover(.at(0.5, 0))),
    ]

    private static let regions = [
        GoodRow("trim", .trim(tolerance: 10)), GoodRow("trim=30", .trim(tolerance: 30)),
        GoodRow("trim=255", .trim(tolerance: 10)), GoodRow("trim=0"),
        GoodRow("trim=5&tbg=white", .trim(tolerance: 5, .white)),
        GoodRow("flip&flop", .flipXY), GoodRow("flip", .flipY), GoodRow("flop&flip=false", .flipX),
        GoodRow("ro=-450", .turn(270)), GoodRow("or=360"), GoodRow("ro=abc"),
        GoodRow("ro=90&flip", .turn(90), .flipY),
        GoodRow("h=300&ro=45", .resize(0, 300, .fit, enlarges: true), .turn(45)),
        GoodRow(
            "ro=45&rbg=red&cw=9", .crop(0, 0, 9, 32_767), .turn(45),
            .flatten(Color(argb: 0xFFFF_0000))),
        GoodRow("ro=90&rbg=red", .turn(90)),
        GoodRow("w=30&h=20&fit=cover&flip", .resize(30, 20, .fill), .flipY),
        GoodRow(
            "w=30&h=20&fit=cover&ro=90", .resize(30, 20, .cover), .turn(90),
            .cropTo(30, 20, .center)),
        GoodRow(
            "w=30&h=20&fit=cover&a=top&flip", .resize(30, 20, .cover), .flipY,
            .cropTo(30, 20, .at(0.5, 0))),
        GoodRow(
            "w=30&h=20&fit=contain&ro=90", .resize(30, 20, .fit, enlarges: true), .turn(90),
            .cropTo(30, 20, .center), .pad(PixelSize(30, 20), .center, .clear)),
        GoodRow(
            "w=30&h=30&fit=cover&mask=circle", .resize(30, 30, .fill), .round(radius: 32_767)),
        GoodRow(
            "w=30&h=30&fit=contain&we&mask=ellipse&mbg=000", .resize(30, 30, .fit),
            .pad(PixelSize(30, 30), .center, .clear), .round(radius: 32_767),
            .flatten(Color(argb: 0xFF00_0000))),
        GoodRow(
            "shape=circle&strim", .cropRatio(AspectRatio(1, 1), .center), .round(radius: 32_767)),
        GoodRow(
            "mask=circle&mtrim=1&w=30&h=30&fit=fill", .resize(30, 30, .stretch),
            .round(radius: 32_767)),
        GoodRow("mask=none&mtrim"), GoodRow("mask"),
    ]

    private static let looks = [
        GoodRow("bg=black", .flatten(Color(argb: 0xFF00_0000))),
        GoodRow("bg=%23CCC", .flatten(Color(argb: 0xFFCC_CCCC))),
        GoodRow("bg=FF663399", .flatten(Color(argb: 0xFF66_3399))),
        GoodRow("bg=RebeccaPurple", .flatten(Color(argb: 0xFF66_3399))),
        GoodRow("bg=plaid"), GoodRow("bg=0fff"), GoodRow("bg=fffff"),
        GoodRow("blur=5", .blur(radius: 5)), GoodRow("blur=0"),
        GoodRow("bri=20", .brightness(20)), GoodRow("bri=101"),
        GoodRow("con=-25", .contrast(-25)), GoodRow("con=200"),
        GoodRow("filt=greyscale", .grayscale), GoodRow("filt=sepia", .sepia),
        GoodRow("filt=negate", .invert), GoodRow("filt=none"),
        // weserv passes the inverse to vips_gamma(), which inverts it again.
        GoodRow("gam=2", .gamma(0.5)), GoodRow("gam", .gamma(1 / 2.2)),
        GoodRow("gam=4", .gamma(1 / 2.2)), GoodRow("gam=0"),
        GoodRow("sat=0.5", .saturation(-50)), GoodRow("sat=1.2", .saturation(20)),
        GoodRow("sat=1"), GoodRow("sat=-1"), GoodRow("mod=1"),
        GoodRow("mod=1,0.5&sat=2", .saturation(-50)), GoodRow("mod=1,2,360", .saturation(100)),
        GoodRow("sharp=3", .sharpen(radius: 3)), GoodRow("sharp=0"),
        GoodRow(
            "bg=fff&blur=5&filt=sepia&sharp=1&gam=2&con=1&sat=2&bri=3&trim", .trim(tolerance: 10),
            .brightness(3), .saturation(100), .contrast(1), .gamma(0.5), .sharpen(radius: 1),
            .sepia, .blur(radius: 5), .flatten(.white)),
    ]

    private static let files = [
        GoodRow("q=20") { $0.image.output.quality = 20 },
        GoodRow("quality=100") { $0.image.output.quality = 100 },
        GoodRow("q=0"), GoodRow("q=101"), GoodRow("q"),
        GoodRow("l=9") { $0.image.output.compression = 9 },
        GoodRow("level=10"),
        GoodRow("ll") { $0.image.output.lossless = true },
        GoodRow("lossless=false"),
        GoodRow("il") { $0.isProgressive = true },
        GoodRow("il=0&output=gif") { $0.image.output.format = .gif },
        GoodRow("output=jpg") { $0.image.output.format = .jpeg },
        GoodRow("output=av1") { $0.image.output.format = .avif },
        GoodRow("output=tif") { $0.image.output.format = .tiff },
        GoodRow("output=origin"), GoodRow("output=bmp"),
        GoodRow("output=json") { ($0.kind, $0.image.infoOnly) = (.properties, true) },
        GoodRow("page=2") { $0.image.frame = 2 }, GoodRow("page=0"), GoodRow("page=100001"),
        GoodRow("n=-1") { $0.framesMax = nil }, GoodRow("pages") { $0.framesMax = nil },
        GoodRow("n=1"), GoodRow("n=0"),
        GoodRow("maxage=31d") { $0.maxAge = 31 * 86_400 },
        GoodRow("maxage=2M") { $0.maxAge = 60 * 86_400 },
        GoodRow("maxage=1y") { $0.maxAge = 365 * 86_400 },
        GoodRow("maxage=86400") { $0.maxAge = 86_400 },
        GoodRow("maxage=23h"), GoodRow("maxage=366d"), GoodRow("maxage=1x"), GoodRow("maxage"),
        GoodRow("filename=lake2") { $0.fileName = "lake2" },
        GoodRow("filename=a.b"), GoodRow("filename="),
    ]

    /// weserv ignores unknown parameters, replaces invalid values by defaults, reads the number at
    /// the start of a text, and counts the first parameter of a name.
    private static let ignored = [
        GoodRow("v=3&none&=&&W=5&wide=1"), GoodRow("w=abc&h="), GoodRow("w=-5"), GoodRow("w=0"),
        GoodRow("w=99999999"), GoodRow("w=300px", .resize(300, 0, .fit, enlarges: true)),
        GoodRow("w=300&w=5", .resize(300, 0, .fit, enlarges: true)),
        GoodRow("w=300&width=5", .resize(300, 0, .fit, enlarges: true)),
        GoodRow("w=30&dpr=9&fit=wide", .resize(30, 0, .fit, enlarges: true)),
        GoodRow("w=30&dpr=0") { $0.saysPixelRatio = true }, GoodRow("w=101%"),
        GoodRow("w=%zz&cx=a&trim=0&dpr=x&fpx=1&we"),
    ]

    static let bad =
        BadRow.table(
            """
            400 w w=40000 width=32768
            400 h h=40000
            400 cx cx=40000
            400 cy cy=40000
            400 cw cw=40000
            400 ch ch=40000
            400 crop crop=40000,1,1,1
            400 resize w=32767&dpr=2
            501 cx cx=10&cw=50% cx=10%&cw=5
            501 cy cy=10&ch=50%
            501 fit fit=contain&w=50% fit=cover&w=50%&h=9&ro=90
            501 tbg trim&tbg=8f00
            501 mask mask=triangle mask=triangle-180 mask=pentagon mask=pentagon-180 mask=hexagon
            501 mask mask=square mask=star mask=heart mask=circle mask=circle&w=30&h=20&fit=cover
            501 mask mask=circle&w=30&h=30 mask=circle&w=30&h=30&fit=cover&we mtrim&mask=ellipse
            501 mask mask=circle&w=30&h=30&fit=cover&cw=9 mask=circle&w=9&h=9&fit=cover&ro=45
            501 shape shape=heart
            501 mbg mbg=8f00&mask=circle&mtrim
            501 rbg rbg=8f00&ro=45
            501 bg bg=8f00
            501 blur blur blur=1 blur=101 blur=abc
            501 filt filt=duotone
            501 mod mod=1.2 mod=0.5,1 mod=1,1,90 mod=1,3
            501 sat sat=2.5
            501 sharp sharp sharp=11 sharp=0.01 sharp=1,2,3
            501 l l=0
            501 output output=json&w=300 output=json&q=5
            501 page page=-1 page=-2 page page=2&n=-1
            501 n n=2
            """)
}
