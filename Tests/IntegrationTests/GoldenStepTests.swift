/// A sequence of steps and the ImageMagick command for the same result.
struct GoldenStep: Sendable, CustomTestStringConvertible {
    let line: String
    /// The arguments of `convert` for the same result, between its input and its output.
    let reference: String
    /// The permitted difference of a sample: on average, and at most.
    let mean: Double
    let most: Int

    /// The default tolerance allows for different rounding.
    init(_ line: String, _ reference: String, mean: Double = 0.6, most: Int = 1) {
        (self.line, self.reference, self.mean, self.most) = (line, reference, mean, most)
    }

    /// Exactly the same pixels.
    static func same(_ line: String, _ reference: String) -> GoldenStep {
        GoldenStep(line, reference, mean: 0, most: 0)
    }

    static func resampled(_ line: String, _ reference: String) -> GoldenStep {
        GoldenStep(line, "-filter Lanczos " + reference, mean: 1, most: 12)
    }

    var testDescription: String { line }
}

extension RealProcesses {
    /// Compares each step with an independent program. The sources are 120x90 pixels of smooth
    /// waves, without alpha (`o.png`) and with alpha rising from left to right (`a.png`).
    @Suite struct GoldenStepTests {
        static let geometry: [GoldenStep] = [
            .resampled("o.png --resize 60x40 --mode stretch", "-resize 60x40!"),
            .resampled("o.png --resize 60x60", "-resize 60x60"),
            .resampled(
                "o.png --resize 60x60 --mode fill",
                "-resize 60x60^ -gravity center -extent 60x60"),
            .resampled(
                "o.png --resize 60x60 --mode cover --crop-to 60x60,east:7:0",
                "-resize 60x60^ -gravity east -extent 60x60+7+0"),
            .resampled("o.png --resize-to 50%x50%", "-resize 50%"),
            .same("o.png --resize-to 60x100%,fill,px:10:0", "-gravity west -extent 60x90"),
            .same("a.png --crop-ratio 1:1,east", "-gravity east -crop 90x90+0+0 +repage"),
            .same(
                "o.png --pad-ratio 3:2,west,#102030",
                "-background #102030 -gravity west -extent 135x90"),
            .resampled(
                "o.png --resize 60x61 --mode letterbox",
                "-alpha set -resize 60x61 -background none -gravity center -extent 60x61"),
            .resampled("a.png --resize 60x45", "-resize 60x45"),
            GoldenStep(
                "o.png --resize 300x --enlarge", "-filter Lanczos -resize 300x", mean: 1.5,
                most: 14),
            .resampled("o.png --scale-down 10800", "-resize 60x45"),
            .same("a.png --crop 10,20,50,40", "-crop 50x40+10+20 +repage"),
            .same("a.png --crop-to 50%x30,southeast", "-gravity southeast -crop 60x30+0+0 +repage"),
            .same("a.png --rotate 90", "-rotate 90"),
            .same("a.png --rotate 180", "-rotate 180"),
            .same("a.png --rotate 270", "-rotate 270"),
            .same("a.png --flip h", "-flop"),
            .same("a.png --flip v", "-flip"),
            GoldenStep(
                "o.png --rotate 30 --crop-to 60x40",
                "-alpha set -virtual-pixel none +distort SRT 30 +repage -gravity center "
                    + "-crop 60x40+0+0 +repage", mean: 3, most: 40),
            .same(
                "o.png --pad 200x150,northwest,#102030",
                "-background #102030 -gravity northwest -extent 200x150"),
            .same(
                "o.png --pad 160x120,center,#102030 --trim 0",
                "-background #102030 -gravity center -extent 160x120 -trim +repage"),
            // The corner has a different color than the edges that are cut off.
            .same(
                "o.png --pad 160x120,center,#102030 --pad 170x140,northwest,#FF8000 "
                    + "--trim 0,#FF8000",
                "-background #102030 -gravity center -extent 160x120 -background #FF8000 "
                    + "-gravity northwest -extent 170x140 -bordercolor #FF8000 -border 1 -trim "
                    + "+repage"),
            .same(
                "a.png --extend 10,20,30,40,#80102030",
                "-background #10203080 -gravity northwest -splice 10x20 -gravity southeast "
                    + "-splice 30x40"),
            .same("a.png --extend 130,20,30,100,copy", virtual("edge", "280x210-130-20")),
            .same("a.png --extend 130,20,30,100,repeat", virtual("tile", "280x210-130-20")),
            .same("a.png --extend 130,20,30,100,mirror", virtual("mirror", "280x210-130-20")),
        ]

        /// How ImageMagick fills the area outside the image.
        private static func virtual(_ pixels: String, _ viewport: String) -> String {
            "-virtual-pixel \(pixels) -filter point -set option:distort:viewport \(viewport) "
                + "-distort SRT 0 +repage"
        }

        static let colors: [GoldenStep] = [
            GoldenStep("a.png --flatten #102030", "-background #102030 -flatten"),
            GoldenStep("o.png --grayscale", "-grayscale Rec601Luma"),
            GoldenStep(
                "o.png --sepia",
                "-color-matrix 0.393,0.769,0.189,0.349,0.686,0.168,0.272,0.534,0.131"),
            GoldenStep("a.png --invert", "-colorspace RGB -channel RGB -negate -colorspace sRGB"),
            GoldenStep("o.png --brightness 20", "-evaluate add 20%"),
            GoldenStep("o.png --contrast -40", "-function polynomial 0.6,0.2"),
            GoldenStep("o.png --contrast 50", "-function polynomial 3,-1", most: 2),
            GoldenStep("o.png --saturation -100", "-grayscale Rec601Luma"),
            GoldenStep("o.png --gamma 2", "-gamma 2"),
            GoldenStep("a.png --color-matrix -1:0:0:1,0:-1:0:1,0:0:-1:1", "-channel RGB -negate"),
            GoldenStep(
                "o.png --color-matrix 0:1:0,0:0:1:-0.1,0.5:0.5:0",
                "-color-matrix '0,1,0,0,0,0 0,0,1,0,0,-0.1 0.5,0.5,0,0,0,0 0,0,0,1,0,0 "
                    + "0,0,0,0,1,0 0,0,0,0,0,1'"),
            GoldenStep(
                "o.png --modulate 0.8,1,30",
                "-define modulate:colorspace=LCHab -modulate 80,100,116.6666667", mean: 1, most: 2),
            GoldenStep(
                "o.png --monochrome #B3B3B3",
                "-colorspace Lab -channel GB -evaluate set 50% -channel RGB -colorspace sRGB",
                mean: 1, most: 2),
            GoldenStep("o.png --blur 3", "-blur 0x3", most: 3),
            GoldenStep("a.png --blur 3", "-blur 0x3", most: 4),
            GoldenStep("o.png --sharpen 2", "-unsharp 0x2+1+0", mean: 1, most: 6),
            GoldenStep("o.png --sharpen 2,0.5", "-unsharp 0x2+0.5+0", mean: 1, most: 6),
            // Without an alpha channel, `-scale` leaves that of PNG32 undefined.
            GoldenStep("o.png --pixelate 10", "-alpha set -scale 10% -scale 1000%"),
            GoldenStep("o.png --vignette 50", "-fx u*(1-0.25*(((2*i+1)/w-1)^2+((2*j+1)/h-1)^2))"),
            GoldenStep(
                "o.png --round 20",
                "-alpha set ( -size 120x90 xc:none -fill white -draw "
                    + "'roundrectangle 0,0 119,89 20,20' ) -compose DstIn -composite", mean: 1.5,
                most: 255),
        ]

        /// ImageMagick composes the source over the image; separable modes follow the W3C
        /// definition.
        static let modes = [
            ("normal", "Over"), ("multiply", "Multiply"), ("screen", "Screen"),
            ("overlay", "Overlay"), ("darken", "Darken"), ("lighten", "Lighten"),
            ("color-dodge", "ColorDodge"), ("color-burn", "ColorBurn"),
            ("hard-light", "HardLight"), ("difference", "Difference"),
            ("exclusion", "Exclusion"), ("source-in", "SrcIn"), ("source-atop", "SrcAtop"),
            ("destination-over", "DstOver"), ("xor", "Xor"), ("plus-lighter", "Plus"),
        ].map { mode, compose in
            GoldenStep(
                "o.png --tint #C08040,\(mode)",
                "-alpha set ( +clone -fill #C08040 -colorize 100 ) -compose \(compose) -composite",
                most: 2)
        }

        @Test func stepsGiveWhatAnotherProgramGives() async throws {
            let folder = TemporaryDirectory()
            let origin = OriginServer()
            for (name, pixels) in [("o.png", Self.opaque), ("a.png", Self.translucent)] {
                let file = try pixels.png()
                origin.route("/" + name, .bytes(file))
                folder.write(file, to: name)
            }
            try await withStack { stack in
                for step in Self.geometry + Self.colors + Self.modes {
                    let (ours, theirs) = (folder.file("ours"), folder.file("theirs"))
                    let words = step.line.split(separator: " ").map(String.init)
                    let end = try stack.get(
                        [origin.url("/" + words[0])] + words.dropFirst()
                            + ["--format", "png", "-o", ours])
                    try #require(end.exitStatus == 0, "\(end)")
                    try Tool.run(
                        ["convert-im6.q16", folder.file(words[0])] + Self.words(step.reference)
                            + ["-depth", "8", "PNG32:" + theirs])
                    try expect(
                        try Pixels(decoding: try #require(FileBytes.read(ours))),
                        isLike: try Pixels(decoding: try #require(FileBytes.read(theirs))), step)
                }
            }
        }

        private func expect(_ ours: Pixels, isLike theirs: Pixels, _ step: GoldenStep) throws {
            #expect(ours.size == theirs.size, "\(step.line)")
            guard ours.size == theirs.size else { return }
            var (sum, most) = (0, 0)
            for y in 0..<ours.height {
                for x in 0..<ours.width {
                    for (mine, other) in zip(Self.seen(ours.at(x, y)), Self.seen(theirs.at(x, y))) {
                        sum += abs(mine - other)
                        most = max(most, abs(mine - other))
                    }
                }
            }
            let mean = Double(sum) / Double(ours.width * ours.height * 4)
            #expect(mean <= step.mean && most <= step.most, "\(step.line): \(mean), \(most)")
        }

        /// Premultiplied red, green and blue, and alpha: fully transparent pixels have no color.
        private static func seen(_ sample: [UInt8]) -> [Int] {
            let values = sample.map { Int($0) }
            let alpha = values.count % 2 == 0 ? values[values.count - 1] : 255
            let colors = values.count < 3 ? [values[0], values[0], values[0]] : values[0..<3] + []
            return colors.map { ($0 * alpha + 127) / 255 } + [alpha]
        }

        /// Splits at spaces outside quotes.
        private static func words(_ text: String) -> [String] {
            text.split(separator: "'", omittingEmptySubsequences: false).enumerated().flatMap {
                $0.offset % 2 == 1
                    ? [String($0.element)] : $0.element.split(separator: " ").map(String.init)
            }
        }

        private static let opaque = Images.waves(width: 120, height: 90)

        private static let translucent = Pixels(
            width: 120, height: 90, bands: 4,
            samples: (0..<90).flatMap { y in
                (0..<120).flatMap { x in opaque.at(x, y) + [UInt8(2 * x + 10)] }
            })
    }
}
