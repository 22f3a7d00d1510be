import Model
import Testing

@Suite struct StepFormTests {
    private static let box = PixelSize(width: 40, height: 30)

    /// One step of each kind.
    private static let steps: [TransformStep] = [
        .resize(box, .fit), .crop(PixelRect(x: 0, y: 0, size: box)),
        .rotate(Rotation(degreesClockwise: 90)), .flip(horizontal: true, vertical: false),
        .resizeTo(
            RelativeSize(width: .percent(150), height: .pixels(0)), .fit, enlarges: true,
            least: PixelSize(width: 0, height: 9), .pixel(x: 1, y: 2)),
        .scaleDown(bytes: 4_000),
        .cropTo(RelativeSize(width: .pixels(9), height: .percent(50)), .center),
        .cropRatio(AspectRatio(width: 16, height: 9), .attention),
        .trim(tolerance: 10, equal: .horizontal), .pad(box, .center, .white),
        .padRatio(
            AspectRatio(width: 1, height: 1),
            .moved(x: 1, y: 0.5, by: GravityOffset(x: .pixels(-3), y: .percent(2.5))), .white),
        .extend(Margins(left: 1, top: 2, right: 3, bottom: 4), .mirror), .flatten(.white),
        .grayscale, .sepia, .invert, .brightness(20), .contrast(20), .saturation(20), .gamma(2),
        .colorMatrix(.negative), .modulate(saturation: 1.5, hue: 90), .monochrome(.white),
        .blur(radius: 5),
        .sharpen(radius: 1, amount: 0.5), .pixelate(10), .vignette(50),
        .round(radius: 5, .topLeft, border: 2, .white), .tint(.white, .multiply),
        .overlay(Overlay(url: "http://h/m.png")), .custom(CustomStep("acme.denoise")),
    ]

    @Test func eachStepIsWrittenInOneWay() {
        let names = TransformStep.syntaxes.map(\.name)
        // A resize also has a mode, and a custom step has its name in its value.
        let written = Self.steps.map { $0.name == "acme.denoise" ? "custom" : $0.name }
        #expect(written == ["resize"] + names)
        for syntax in TransformStep.syntaxes {
            #expect(syntax.parse("\u{1}") == nil)
        }
    }

    @Test func stepsSayWhatTheyAskOfTheSource() {
        #expect(
            Self.steps.map(\.form.demand) == [
                .box(Self.box, .fit), .everything, .transposition, .nothing, .everything,
                .area(1_000), .everything, .everything, .everything, .everything, .everything,
                .everything, .nothing, .nothing,
            ] + [StepDemand](repeating: .everything, count: 17))
    }

    @Test func nothingIsMadeOfWhatHasNoSize() {
        for step in Self.steps {
            #expect(step.size(after: PixelSize(width: 0, height: 4)) == nil)
            #expect(step.size(after: PixelSize(width: 1 << 40, height: 4)) == nil)
            #expect(step.size(after: Self.box) != nil)
        }
    }

    /// Round trip of the wire form and of the text form.
    @Test func aStepWithoutAMessageIsReadFromItsParameters() {
        for step in Self.steps {
            guard let named = step.form as? any NamedStep else { continue }
            #expect(TransformStep(named: named.name, parameters: named.parameters) == step)
            var more = named.parameters
            more["unheard-of"] = "1"
            let isCustom = named is CustomStep
            #expect((TransformStep(named: named.name, parameters: more) == nil) != isCustom)
        }
    }

    @Test(
        arguments: [
            (
                "crop-to", "300x50%",
                .cropTo(.init(width: .pixels(300), height: .percent(50)), .center)
            ),
            (
                "crop-to", "1x1,fp:0.3:0.7",
                .cropTo(.init(width: .pixels(1), height: .pixels(1)), .point(x: 0.3, y: 0.7))
            ),
            (
                "crop-to", "1x1,attention",
                .cropTo(.init(width: .pixels(1), height: .pixels(1)), .attention)
            ),
            ("scale-down", "4000000", .scaleDown(bytes: 4_000_000)),
            ("trim", "", .trim(tolerance: 10)), ("trim", "0.5", .trim(tolerance: 0.5)),
            ("trim", "#ffffff", .trim(tolerance: 10, .white)),
            ("trim", "0,#00000000", .trim(tolerance: 0, .clear)),
            ("trim", "both", .trim(tolerance: 10, equal: .both)),
            ("trim", "1,#ffffff,vertical", .trim(tolerance: 1, .white, equal: .vertical)),
            (
                "extend", "1,2,3,4",
                .extend(Margins(left: 1, top: 2, right: 3, bottom: 4), .color(.clear))
            ),
            ("extend", "0,0,0,32767,copy", .extend(Margins(bottom: 32_767), .copy)),
            ("extend", "0,9,0,0,#FFFFFF", .extend(Margins(top: 9), .color(.white))),
            ("pad", "40x30", .pad(box, .center, .clear)),
            ("pad", "40x30,#fFffff", .pad(box, .center, .white)),
            (
                "pad", "40x30,southwest,#80000000",
                .pad(box, .point(x: 0, y: 1), Color(argb: 0x8000_0000))
            ),
            ("flatten", "#010203", .flatten(Color(argb: 0xFF01_0203))),
            ("grayscale", "", .grayscale), ("sepia", "", .sepia), ("invert", "", .invert),
            ("brightness", "-12.5", .brightness(-12.5)), ("gamma", "2.2", .gamma(2.2)),
            (
                "color-matrix", "1:0:0,0:0.5:1e-1:-0.25,-1:0:0:1",
                .colorMatrix(
                    ColorMatrix(
                        red: .init(1, 0, 0), green: .init(0, 0.5, 0.1, offset: -0.25),
                        blue: .init(-1, 0, 0, offset: 1)))
            ),
            ("modulate", "0.5", .modulate(lightness: 0.5)),
            ("modulate", "1,10000,-90", .modulate(saturation: 10_000, hue: -90)),
            ("monochrome", "#704214", .monochrome(Color(argb: 0xFF70_4214))),
            (
                "monochrome", "#704214,0.8",
                .monochrome(Color(argb: 0xFF70_4214), intensity: 0.8)
            ),
            ("sharpen", "2", .sharpen(radius: 2)),
            ("sharpen", "2,0.5", .sharpen(radius: 2, amount: 0.5)),
            ("blur", "5", .blur(radius: 5)), ("pixelate", "10", .pixelate(10)),
            ("round", "20", .round(radius: 20)),
            ("round", "0,1,#ffffff", .round(radius: 0, border: 1, .white)),
            ("round", "2.5,bl+tr", .round(radius: 2.5, [.topRight, .bottomLeft])),
            (
                "round", "9,all,2,#80000000",
                .round(radius: 9, .all, border: 2, Color(argb: 0x8000_0000))
            ),
            ("tint", "#010203", .tint(Color(argb: 0xFF01_0203))),
            ("tint", "#80FF0000,color-burn", .tint(Color(argb: 0x80FF_0000), .colorBurn)),
        ] as [(String, String, TransformStep)])
    func aStepIsWrittenByItsValues(name: String, text: String, step: TransformStep) throws {
        let syntax = try #require(TransformStep.syntaxes.first { $0.name == name })
        #expect(syntax.parse(text) == step)
        try step.form.check(pixelsMax: 1_000_000)
    }

    @Test(arguments: [
        ("scale-down", "0"), ("scale-down", "4k"),
        ("crop-to", "0x5"), ("crop-to", "101%x5"), ("crop-to", "5x5,fp:2:0"), ("crop-to", "north"),
        ("crop-to", "5x5,north,north"), ("trim", "256"), ("trim", "1,2"), ("trim", "1,white"),
        ("trim", "both,1"), ("trim", "none"),
        ("extend", "1,2,3"), ("extend", "1,2,3,-1"), ("extend", "1,2,3,32768"),
        ("extend", "1,2,3,4,5"), ("extend", "1,2,3,4,tile"), ("extend", ""),
        ("pad", "40x30,attention"), ("pad", "40"),
        ("pad", "40x30,#12345"), ("pad", "40x30,"), ("flatten", ""), ("flatten", "#80000000"),
        ("grayscale", "1"), ("contrast", "101"), ("gamma", "0"), ("blur", "101"), ("blur", "nan"),
        ("pixelate", "1"), ("pixelate", "2.5"), ("vignette", "-1"), ("sharpen", "11"),
        ("sharpen", "1,101"), ("sharpen", "1,1,1"), ("color-matrix", "1:0:0,0:1:0"),
        ("color-matrix", "1:0,0:1:0,0:0:1"), ("color-matrix", "1:0:0:0:0,0:1:0,0:0:1"),
        ("color-matrix", "1:0:x,0:1:0,0:0:1"), ("color-matrix", "1:0:,0:1:0,0:0:1"),
        ("color-matrix", "1001:0:0,0:1:0,0:0:1"), ("modulate", ""), ("modulate", "-1"),
        ("modulate", "1,10001"), ("modulate", "1,1,361"), ("monochrome", "0.5"),
        ("monochrome", "#80704214"), ("monochrome", "#704214,2"),
        ("round", ""), ("round", "-1"), ("round", "32768"), ("round", "5,tl+tl"), ("round", "5,"),
        ("round", "5,1,tl"), ("round", "5,tl,40000"), ("tint", ""), ("tint", "red"),
        ("tint", "#010203,darker"), ("tint", "multiply"),
    ])
    func otherTextsAreNoSteps(name: String, text: String) throws {
        let syntax = try #require(TransformStep.syntaxes.first { $0.name == name })
        #expect(syntax.parse(text) == nil)
    }

    @Test(
        arguments: [
            (.blur(radius: 101), "blur: radius must be a number from 0 to 100"),
            (.gamma(.nan), "gamma: exponent must be a number from 0.1 to 10"),
            (
                .colorMatrix(
                    ColorMatrix(red: .init(.nan, 0, 0), green: .init(0, 1, 0), blue: .init(0, 0, 1))
                ),
                "color-matrix: red must be RED:GREEN:BLUE[:OFFSET], numbers from -1000 to 1000"
            ),
            (
                .modulate(hue: 400), "modulate: hue must be a number from -360 to 360"
            ),
            (
                .monochrome(.clear), "monochrome: colour must be an opaque color, #RRGGBB"
            ),
            (
                .sharpen(radius: 1, amount: -1), "sharpen: amount must be a number from 0 to 100"
            ),
            (.pixelate(1), "pixelate: side must be an integer from 2 to 1000"),
            (.flatten(.clear), "flatten: colour must be an opaque color, #RRGGBB"),
            (
                .extend(Margins(top: -1), .copy), "extend: top must be an integer from 0 to 32767"
            ),
            (
                .pad(PixelSize(width: 0, height: 1), .center, .clear),
                "pad: width and height must be positive"
            ),
            (
                .padRatio(AspectRatio(width: 9, height: 9), .entropy, .clear),
                "pad-ratio: the gravity must be a position; only crop-to supports attention "
                    + "and entropy"
            ),
            (
                .cropRatio(AspectRatio(width: 9, height: 0), .center),
                "crop-ratio: ratio must be WIDTH:HEIGHT, integers from 1 to 32767"
            ),
            (
                .resizeTo(RelativeSize(width: .pixels(9), height: .percent(50)), .letterbox),
                "resize-to: letterbox is not supported; use fit followed by pad"
            ),
            (
                .resizeTo(RelativeSize(width: .pixels(0), height: .pixels(0)), .fit),
                "resize-to: size must be WIDTHxHEIGHT, each from 1 to 32767 pixels, or above 0 "
                    + "and at most 10000%; one side may be 0"
            ),
            (
                .resizeTo(
                    RelativeSize(width: .pixels(9), height: .pixels(9)), .fit,
                    least: PixelSize(width: -1, height: 0)),
                "resize-to: least must be WIDTHxHEIGHT, each from 0 to 32767 pixels"
            ),
            (
                .resizeTo(RelativeSize(width: .pixels(3_000), height: .pixels(3_000)), .fill),
                "resize-to: at most 1000000 pixels are allowed"
            ),
            (
                .pad(PixelSize(width: 9, height: 9), .entropy, .clear),
                "pad: the gravity must be a position; only crop-to supports attention and entropy"
            ),
            (
                .pad(PixelSize(width: 3_000, height: 3_000), .center, .clear),
                "pad: at most 1000000 pixels are allowed"
            ),
            (
                .round(radius: 32_768), "round: radius must be a number from 0 to 32767"
            ),
            (
                .round(radius: 0, border: .infinity),
                "round: border must be a number from 0 to 32767"
            ),
            (
                .round(radius: 1, []),
                "round: corners must be all, or some of tl, tr, bl and br, such as tl+tr"
            ),
            (
                .round(radius: 1, Corners(rawValue: 17)),
                "round: corners must be all, or some of tl, tr, bl and br, such as tl+tr"
            ),
            (
                .rotate(Rotation(radians: 7_000, fitsSize: true)),
                "rotate: the angle must be at most 6284 radians"
            ),
        ] as [(TransformStep, String)])
    func aValueBeyondItsLimitIsNamed(step: TransformStep, message: String) {
        let error = #expect(throws: ImageError.self) { try step.form.check(pixelsMax: 1_000_000) }
        #expect(error?.message == message)
    }

    @Test func marginsBeyondAllLimitsMakeNothing() {
        for margins in [Margins(left: .max, right: .max), Margins(top: .min)] {
            #expect(TransformStep.extend(margins, .copy).size(after: Self.box) == nil)
        }
        let margins = Margins(left: 1, top: 2, right: 3, bottom: 4)
        let size = TransformStep.extend(margins, .copy).size(after: Self.box)
        #expect(size == PixelSize(width: 44, height: 36))
    }

    /// By the weights of BT.601. Half of each pixel stays; the other half is red to white.
    @Test func aDuotoneIsAMatrix() {
        let red = Color(argb: 0xFFFF_0000)
        let numbers = ColorMatrix.duotone(dark: red, light: .white, intensity: 0.5)
        #expect(numbers.red == .init(0.5, 0, 0, offset: 0.5))
        #expect(numbers.green == .init(0.5 * 0.299, 0.5 + 0.5 * 0.587, 0.5 * 0.114))
        #expect(numbers.blue == .init(0.5 * 0.299, 0.5 * 0.587, 0.5 + 0.5 * 0.114))
    }

    /// 0.5 is half the contrast, 3 the contrast of 50.
    @Test func aSlopeIsAContrast() {
        let slopes = [(0.0, -100.0), (0.5, -50), (1, 0), (1.5, 20), (3, 50)]
        for (slope, contrast) in slopes { #expect(ContrastStep(slope: slope).number == contrast) }
    }

    @Test func onlyATrimLooksForItsSize() {
        #expect(Self.steps.filter { $0.form.looksForItsSize }.map(\.name) == ["trim"])
    }

    @Test func gravityPlacesPartsAndImages() {
        let (part, whole) = (PixelSize(width: 4, height: 3), PixelSize(width: 9, height: 8))
        func place(_ text: String) -> [Int] {
            let gravity = Gravity(text)
            let rect = gravity?.part(part, of: whole)
            let origin = gravity?.origin(of: part, on: whole)
            return [rect?.x ?? -1, rect?.y ?? -1, origin?.x ?? -1, origin?.y ?? -1]
        }
        #expect(place("center") == [2, 2, 2, 2])
        #expect(place("northeast") == [5, 0, 5, 0])
        #expect(place("southwest") == [0, 5, 0, 5])
        #expect(place("fp:0.5:1") == [2, 5, 2, 5])
        #expect(place("fp:0.3:0.3") == [0, 0, 1, 1])
        #expect(place("entropy") == [-1, -1, -1, -1])
        #expect(place("px:3:7") == [1, 5, 1, 5])
        #expect(place("px:8:0") == [5, 0, 6, -2])
        #expect(place("north:1:2") == [3, 2, 3, 2])
        #expect(place("southeast:1:20%") == [4, 3, 4, 3])
        #expect(place("west:-2:-100%") == [0, 0, -2, -6])
        #expect(place("center:9:9") == [5, 5, 11, 11])
    }

    @Test(
        arguments: [
            "fp:0.5", "px:1", "px:a:1", "north:1", "north:1:x", "attention:1:2", "up:1:2",
            "north:1:2:3", "fp:1:2:3", "px:1:2:3", "north::", "north:1%%:2",
        ])
    func whatIsNoGravityIsNone(text: String) { #expect(Gravity(text) == nil) }

    @Test func gravitiesAreWrittenAsTheyAreRead() {
        for text in [
            "center", "northeast", "fp:0.25:0.75", "px:3.0:4.5", "southwest:5:-10.0%",
            "center:0:7", "entropy",
        ] {
            #expect(Gravity(text)?.description == text)
        }
        #expect(Gravity("px:3:4")?.description == "px:3.0:4.0")
    }
}
