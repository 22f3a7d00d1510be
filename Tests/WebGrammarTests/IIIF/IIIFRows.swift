import Model
import WebGrammar

/// The parameters of IIIF, each with its result.
enum IIIFRows {
    static let good = regions + sizes + parts + squares + looks

    private static let regions = [
        row("full/max/0/default.jpg"),
        row("10,20,300,200/max/0/default.jpg", .crop(10, 20, 300, 200)),
        row("pct:10,20,50,60/max/0/default.jpg", .cropTo(50%, 60%, .at(0.35, 0.5))),
        row("pct:75,0,50,100/max/0/default.jpg", .cropTo(25%, 100%, .at(0.875, 0.5))),
        row("pct:0,0,100,100/max/0/default.jpg"),
    ]

    private static let sizes = [
        row("full/^max/0/default.jpg"),
        row("full/pct:100/0/default.jpg"),
        row("full/90,/0/default.jpg", .resize(90, 0, .fit), least: PixelSize(90, 0)),
        row("full/^90,/0/default.jpg", .resize(90, 0, .fit, enlarges: true)),
        row("full/,80/0/default.jpg", .resize(0, 80, .fit), least: PixelSize(0, 80)),
        row("full/^,80/0/default.jpg", .resize(0, 80, .fit, enlarges: true)),
        row(
            "full/90,80/0/default.jpg", .resize(90, 80, .stretch, enlarges: false),
            least: PixelSize(90, 80)),
        row("full/^90,80/0/default.jpg", .resize(90, 80, .stretch)),
        row("full/!90,80/0/default.jpg", .resize(90, 80, .fit)),
        row("full/^!90,80/0/default.jpg", .resize(90, 80, .fit, enlarges: true)),
        row(
            "0,0,9,9/5,/0/default.jpg", .crop(0, 0, 9, 9), .resize(5, 0, .fit),
            least: PixelSize(5, 0)),
    ]

    private static let parts = [
        row("full/pct:50/0/default.jpg", scale(50)),
        row("full/^pct:150/0/default.jpg", scale(150)),
        row("10,20,300,200/pct:12.5/0/default.jpg", .crop(10, 20, 300, 200), scale(12.5)),
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
            "square/90,/0/default.jpg", .resize(90, 90, .fill, enlarges: false),
            least: PixelSize(90, 0)),
        row("square/^,80/0/default.jpg", .resize(80, 80, .fill)),
        row("square/!90,80/0/default.jpg", .resize(80, 80, .fill, enlarges: false)),
        row("square/^90,90/0/default.jpg", .resize(90, 90, .fill)),
        row(
            "square/90,80/0/default.jpg", .resize(90, 90, .fill, enlarges: false),
            .resize(90, 80, .stretch, enlarges: false), least: PixelSize(90, 80)),
    ]

    private static let looks = [
        row("full/max/90/default.jpg", .turn(90)),
        row("full/max/22.5/default.jpg", .turn(22.5)),
        row("full/max/360/default.jpg"),
        row("full/max/!0/default.jpg", .flipX),
        row(
            "full/90,/!270/default.jpg", .resize(90, 0, .fit), .flipX, .turn(270),
            least: PixelSize(0, 90)),
        row("full/90,/45/default.jpg", .resize(90, 0, .fit), .turn(45)),
        row("full/max/0/color.jpg"), row("full/max/0/gray.jpg", .grayscale),
        row("full/max/0/default.png", format: .png), row("full/max/0/default.webp", format: .webp),
        row("full/max/0/default.gif", format: .gif), row("full/max/0/default.tif", format: .tiff),
    ]

    static let bad = BadRow.table(
        """
        400 format full/max/0/default full/max/0/default. full/max/0/default.JPG
        400 format full/max/0/default.blob full/max/0/default.jp2 full/max/0/default.pdf
        400 quality full/max/0/native.jpg full/max/0/.jpg full/max/0/bitonal.png
        400 region all/max/0/default.jpg 1,2,3/max/0/default.jpg -1,2,3,4/max/0/default.jpg
        400 region 1,2,0,4/max/0/default.jpg 1.5,2,3,4/max/0/default.jpg 1,,3,4/max/0/default.jpg
        400 region pct:1,2,3/max/0/default.jpg pct:100,0,1,1/max/0/default.jpg
        400 region pct:0,0,0,1/max/0/default.jpg pct:-1,0,1,1/max/0/default.jpg
        400 resize full/^30000,30000/0/default.jpg
        400 rotation full/max/361/default.jpg full/max/-90/default.jpg full/max/1e2/default.jpg
        400 rotation full/max/!/default.jpg
        400 size full/full/0/default.jpg full/,/0/default.jpg full/0,/0/default.jpg
        400 size full/!5,/0/default.jpg full/1,2,3/0/default.jpg full/x,/0/default.jpg
        400 size full/40000,/0/default.jpg full/pct:/0/default.jpg full/^pct:10001/0/default.jpg
        400 size full/pct:150/0/default.jpg full/pct:0/0/default.jpg square/pct:101/0/default.jpg
        """)

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
