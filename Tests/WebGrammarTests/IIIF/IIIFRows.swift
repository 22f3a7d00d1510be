import Model
import WebGrammar

/// The parameters of IIIF, each with its result.
enum IIIFRows {
    static let good = regions + sizes + parts + squares + looks

    private static let regions = [
        row("full/max/0/default.jpg"),
        row(
            "10,20,300,200/max/0/default.jpg",
            .crop(PixelRect(x: 10, y: 20, size: PixelSize(300, 200)))),
        row(
            "pct:10,20,50,60/max/0/default.jpg",
            .cropTo(
                RelativeSize(width: .percent(50), height: .percent(60)),
                .point(x: 0.35, y: 0.5))),
        row(
            "pct:75,0,50,100/max/0/default.jpg",
            .cropTo(
                RelativeSize(width: .percent(25), height: .percent(100)),
                .point(x: 0.875, y: 0.5))),
        row("pct:0,0,100,100/max/0/default.jpg"),
    ]

    private static let sizes = [
        row("full/^max/0/default.jpg"),
        row("full/pct:100/0/default.jpg"),
        row("full/90,/0/default.jpg", .resize(PixelSize(90, 0), .fit), least: PixelSize(90, 0)),
        row("full/^90,/0/default.jpg", .resize(PixelSize(90, 0), .fit, enlarges: true)),
        row("full/,80/0/default.jpg", .resize(PixelSize(0, 80), .fit), least: PixelSize(0, 80)),
        row("full/^,80/0/default.jpg", .resize(PixelSize(0, 80), .fit, enlarges: true)),
        row(
            "full/90,80/0/default.jpg", .resize(PixelSize(90, 80), .stretch, enlarges: false),
            least: PixelSize(90, 80)),
        row("full/^90,80/0/default.jpg", .resize(PixelSize(90, 80), .stretch)),
        row("full/!90,80/0/default.jpg", .resize(PixelSize(90, 80), .fit)),
        row("full/^!90,80/0/default.jpg", .resize(PixelSize(90, 80), .fit, enlarges: true)),
        row(
            "0,0,9,9/5,/0/default.jpg", .crop(PixelRect(x: 0, y: 0, size: PixelSize(9, 9))),
            .resize(PixelSize(5, 0), .fit), least: PixelSize(5, 0)),
    ]

    private static let parts = [
        row("full/pct:50/0/default.jpg", scale(50)),
        row("full/^pct:150/0/default.jpg", scale(150)),
        row(
            "10,20,300,200/pct:12.5/0/default.jpg",
            .crop(PixelRect(x: 10, y: 20, size: PixelSize(300, 200))), scale(12.5)),
        row("square/max/0/default.jpg", square),
        row("square/pct:100/0/default.jpg", square),
        row("square/pct:25/0/default.jpg", square, scale(25)),
    ]

    private static let square = TransformStep.cropRatio(AspectRatio(width: 1, height: 1), .center)

    private static func scale(_ percent: Double) -> TransformStep {
        .resizeTo(RelativeSize(width: .percent(percent), height: .percent(percent)), .stretch)
    }

    private static let squares = [
        row(
            "square/90,/0/default.jpg", .resize(PixelSize(90, 90), .fill, enlarges: false),
            least: PixelSize(90, 0)),
        row("square/^,80/0/default.jpg", .resize(PixelSize(80, 80), .fill)),
        row("square/!90,80/0/default.jpg", .resize(PixelSize(80, 80), .fill, enlarges: false)),
        row("square/^90,90/0/default.jpg", .resize(PixelSize(90, 90), .fill)),
        row(
            "square/90,80/0/default.jpg", .resize(PixelSize(90, 90), .fill, enlarges: false),
            .resize(PixelSize(90, 80), .stretch, enlarges: false), least: PixelSize(90, 80)),
    ]

    private static let looks = [
        row("full/max/90/default.jpg", .rotate(Rotation(degreesClockwise: 90))),
        row("full/max/22.5/default.jpg", .rotate(Rotation(degreesClockwise: 22.5))),
        row("full/max/360/default.jpg"),
        row("full/max/!0/default.jpg", .flip(horizontal: true, vertical: false)),
        row(
            "full/90,/!270/default.jpg", .resize(PixelSize(90, 0), .fit),
            .flip(horizontal: true, vertical: false), .rotate(Rotation(degreesClockwise: 270)),
            least: PixelSize(0, 90)),
        row(
            "full/90,/45/default.jpg", .resize(PixelSize(90, 0), .fit),
            .rotate(Rotation(degreesClockwise: 45))),
        row("full/max/0/color.jpg"), row("full/max/0/gray.jpg", .grayscale),
        row("full/max/0/default.png", format: .png), row("full/max/0/default.webp", format: .webp),
        row("full/max/0/default.gif", format: .gif), row("full/max/0/default.tif", format: .tiff),
    ]

    static let bad = [
        BadRow("all/max/0/default.jpg", 400, "region"),
        BadRow("1,2,3/max/0/default.jpg", 400, "region"),
        BadRow("-1,2,3,4/max/0/default.jpg", 400, "region"),
        BadRow("1,2,0,4/max/0/default.jpg", 400, "region"),
        BadRow("1.5,2,3,4/max/0/default.jpg", 400, "region"),
        BadRow("1,,3,4/max/0/default.jpg", 400, "region"),
        BadRow("pct:1,2,3/max/0/default.jpg", 400, "region"),
        BadRow("pct:100,0,1,1/max/0/default.jpg", 400, "region"),
        BadRow("pct:0,0,0,1/max/0/default.jpg", 400, "region"),
        BadRow("pct:-1,0,1,1/max/0/default.jpg", 400, "region"),
        BadRow("full/full/0/default.jpg", 400, "size"), BadRow("full/,/0/default.jpg", 400, "size"),
        BadRow("full/0,/0/default.jpg", 400, "size"), BadRow("full/!5,/0/default.jpg", 400, "size"),
        BadRow("full/1,2,3/0/default.jpg", 400, "size"),
        BadRow("full/x,/0/default.jpg", 400, "size"),
        BadRow("full/40000,/0/default.jpg", 400, "size"),
        BadRow("full/^30000,30000/0/default.jpg", 400, "resize"),
        BadRow("full/pct:/0/default.jpg", 400, "size"),
        BadRow("full/^pct:10001/0/default.jpg", 400, "size"),
        BadRow("full/pct:150/0/default.jpg", 400, "size"),
        BadRow("full/pct:0/0/default.jpg", 400, "size"),
        BadRow("square/pct:101/0/default.jpg", 400, "size"),
        BadRow("full/max/361/default.jpg", 400, "rotation"),
        BadRow("full/max/-90/default.jpg", 400, "rotation"),
        BadRow("full/max/1e2/default.jpg", 400, "rotation"),
        BadRow("full/max/!/default.jpg", 400, "rotation"),
        BadRow("full/max/0/native.jpg", 400, "quality"), BadRow("full/max/0/.jpg", 400, "quality"),
        BadRow("full/max/0/bitonal.png", 400, "quality"),
        BadRow("full/max/0/default", 400, "format"), BadRow("full/max/0/default.", 400, "format"),
        BadRow("full/max/0/default.JPG", 400, "format"),
        BadRow("full/max/0/default.blob", 400, "format"),
        BadRow("full/max/0/default.jp2", 400, "format"),
        BadRow("full/max/0/default.pdf", 400, "format"),
    ]

    private static func row(
        _ text: String, _ steps: TransformStep..., format: ImageFormat = .jpeg,
        least: PixelSize? = nil
    ) -> GoodRow {
        GoodRow(text) {
            $0.image.steps = steps
            $0.image.output.format = format
            $0.leastSize = least
        }
    }
}
