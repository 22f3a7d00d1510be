import CommandLineInterface
import Model
import Testing

@testable import imagebus_cli

@Suite struct GetOptionsTests: OptionTests {
    typealias Options = GetOptions

    private static let ten = PixelSize(width: 10, height: 10)
    private static let five = PixelSize(width: 5, height: 5)
    private static let wide = PixelSize(width: 10, height: 0)
    private static let filled: [TransformStep] = [.resize(ten, .fill), .resize(five, .fit)]
    private static let turned = TransformStep.rotate(Rotation(degreesClockwise: 90))

    @Test func aPlainGetIsAPlainRequest() throws {
        let options = try options(["http://a/b"])
        #expect(options.request == ImageRequest(url: "http://a/b"))
        #expect(options.target == .none)
        #expect(!options.printsJSON)
    }

    /// An error in a variable names the variable, not the option.
    @Test(arguments: [
        ("QUALITY", "abc", "IMAGEBUS_QUALITY: 'abc' is not an integer between 0 and 100"),
        ("TIMEOUT", "soon", "IMAGEBUS_TIMEOUT: 'soon' is not a time"),
        ("RESIZE", "big", "IMAGEBUS_RESIZE: 'big' is not WIDTHxHEIGHT"),
        ("HEADER", "none", "IMAGEBUS_HEADER: 'none' is not a header"),
        ("OPTION", "fast", "IMAGEBUS_OPTION: 'fast' is not a load option"),
        ("CONTEXT", "tier=all", "IMAGEBUS_CONTEXT tier: unknown context option"),
        ("ALLOW_ADDRESS", "localhost:80", "IMAGEBUS_ALLOW_ADDRESS: 'localhost:80' is not IP:PORT"),
    ])
    func aFaultInAVariableNamesTheVariable(name: String, text: String, expected: String) {
        let found = complaint(["http://a/b"], ["HOME": "/home/a", "IMAGEBUS_\(name)": text])
        #expect(found?.hasPrefix(expected) == true, "\(found ?? "")")
        let option = "--\(name.lowercased().split(separator: "_").joined(separator: "-"))"
        let other = complaint(["http://a/b", option, text], ["HOME": "/home/a"])
        #expect(other?.hasPrefix(option) == true, "\(other ?? "")")
    }

    @Test func theHelpSaysWhichOptionsHaveNoEffectAndWhatATimeIs() throws {
        for command in [Command.get, .prefetch] {
            let text = HelpText.text(of: command)
            let parts = text.split(separator: "without effect:")
            try #require(parts.count == 2, "\(text)")
            for name in RequestOptions.withoutEffect.names {
                #expect(parts[0].contains(name) == false, "\(name)")
                #expect(parts[1].contains(name), "\(name)")
            }
            #expect(text.contains("a plain number is seconds"))
        }
    }

    @Test func aFallbackIsAColorOrAURL() throws {
        func fallback(_ text: String) throws(UsageError) -> Fallback? {
            try options(["http://a/b", "--fallback", text]).request.context.fallback
        }
        #expect(try fallback("#80ff0A00") == .color(Color(argb: 0x80FF_0A00)))
        #expect(try fallback("#102030") == .color(Color(argb: 0xFF10_2030)))
        #expect(try fallback("https://a/c.png") == .url("https://a/c.png"))
        #expect(try fallback("none") == Fallback.none)
        #expect(try options(["http://a/b"]).request.context.fallback == nil)
        let wrong = [
            "#12345", "#1234567", "#+1234567", "#-0000000", "#-00000", "#00GG00", "", "word",
            "file:///a.png", "ftp://a/b.png", "http://",
        ]
        for text in wrong {
            #expect(complaint(["http://a/b", "--fallback", text])?.contains("--fallback") == true)
        }
        // A password is not repeated.
        let misspelled = complaint(["http://a/b", "--fallback", "htps://user:secret@h/a"])
        #expect(misspelled?.contains("is not a fallback") == true)
        #expect(misspelled?.contains("secret") == false)
    }

    @Test func damagedImagesAreRefusedOrShown() throws {
        for choice in DamagedImages.allCases {
            let request = try options(["http://a/b", "--damaged", choice.name]).request
            #expect(request.context.damaged == choice)
        }
        #expect(try options(["http://a/b"]).request.context.damaged == nil)
        #expect(complaint(["http://a/b", "--damaged", "hide"])?.contains("refuse, show") == true)
    }

    /// Options, the mode in the environment, and the steps.
    private static let stepRows: [(String, String, [TransformStep])] = [
        (
            "--rotate 90 --resize 10x10 --flip h --crop 1,2,5,5 --resize 5x5", "",
            [
                turned, .resize(ten, .fit), .flip(horizontal: true, vertical: false),
                .crop(PixelRect(x: 1, y: 2, size: five)), .resize(five, .fit),
            ]
        ),
        // A mode belongs to the resize before it, else to the next.
        ("--resize 10x10 --mode fill --resize 5x5", "", filled),
        ("--resize 10x10 --rotate 90 --mode stretch", "", [.resize(ten, .stretch), turned]),
        ("--mode fill --resize 10x10 --resize 5x5", "", filled),
        (
            "--resize 10x10 --mode fill --mode letterbox --resize 5x5", "",
            [.resize(ten, .fill), .resize(five, .letterbox)]
        ),
        // A mode of the environment is the default.
        ("--resize 10x10 --resize 5x5", "fill", [.resize(ten, .fill), .resize(five, .fill)]),
        ("", "fill", []), ("--resize 10x10 --mode fit", "fill", [.resize(ten, .fit)]),
        ("--resize 10x", "", [.resize(wide, .fit)]),
        (
            "--resize 10x --enlarge --resize x5 --no-enlarge", "",
            [
                .resize(wide, .fit, enlarges: true),
                .resize(PixelSize(width: 0, height: 5), .fit),
            ]
        ),
        (
            "--no-enlarge --resize 10x10 --mode fill --resize 5x5", "",
            [.resize(ten, .fill, enlarges: false), .resize(five, .fit)]
        ),
    ]

    @Test(arguments: stepRows)
    func stepsKeepTheirOrder(arguments: String, mode: String, steps: [TransformStep]) throws {
        let words = ["http://a/b"] + arguments.split(separator: " ").map(String.init)
        let options = try options(words, ["HOME": "/home/a", "IMAGEBUS_MODE": mode])
        #expect(options.request.steps == steps)
    }

    @Test func everythingElseOfARequestHasAnOption() throws {
        let request = try options([
            "http://a/b", "--thumbnail", "10x10", "--context", "preserve-aspect-ratio=false",
            "--format", "webp", "--quality", "0", "--lossless", "--option", "retry-failed",
            "--option", "wait-store-cache", "--priority", "high", "--timeout", "250ms",
            "--header", "Accept:  image/webp ", "--header", "X-A: b:c",
            "--context", "query-cache-type=memory", "--context", "store-cache-type=none",
            "--context", "original-query-cache-type=all",
            "--context", "original-store-cache-type=none",
            "--context", "cache-serializer=transcode:webp:70",
        ]).request
        var wanted = ImageRequest(url: "http://a/b")
        wanted.thumbnail = Thumbnail(box: Self.ten, preservesAspectRatio: false)
        wanted.output = OutputOptions(format: .webp, quality: 0, lossless: true)
        wanted.options = [.retryFailed, .waitStoreCache, .highPriority]
        wanted.timeoutMilliseconds = 250
        wanted.headers = [
            HTTPHeader(name: "Accept", value: "image/webp"), HTTPHeader(name: "X-A", value: "b:c"),
        ]
        wanted.queryCacheTypes = .memory
        wanted.storeCacheTypes = .none
        wanted.originalQueryCacheTypes = .all
        wanted.originalStoreCacheTypes = .none
        wanted.context.serializer = .transcode(.webp, quality: 70)
        #expect(request == wanted)
    }

    @Test func everyContextOptionOfSDWebImageIsSent() throws {
        let values: [ContextKey: String] = [
            .imageThumbnailPixelSize: "10x10", .imagePreserveAspectRatio: "no",
            .imageScaleFactor: "2", .imageDecodeOptions: "scale-factor=2",
            .imageEncodeOptions: "max-file-size=9", .imageScaleDownLimitBytes: "4",
            .imageDecodeToHDR: "1", .queryCacheType: "disk", .animatedImageClass: "animated",
            .storeCacheType: "disk", .originalQueryCacheType: "all", .originalStoreCacheType: "all",
        ]
        let single: Set<ContextKey> = [.setImageOperationKey, .callbackQueue]
        for key in ContextKey.allCases {
            let arguments = ["u", "--context", "\(key.rawValue)=\(values[key] ?? "x")"]
            if single.contains(key) {
                #expect(complaint(arguments)?.hasPrefix("--context \(key.rawValue): ") == true)
            } else if ContextKey.notSupported.contains(key) {
                #expect(try options(arguments).request.context.others == [key.rawValue: "x"])
            } else if key != .imagePreserveAspectRatio {
                #expect(try options(arguments).request != ImageRequest(url: "u"), "\(key)")
            }
        }
    }

    /// The class is one of two names, which are equivalent to options.
    @Test func theClassOfAnAnimationIsAWord() throws {
        func options(_ words: [String]) throws -> RequestOptions {
            try self.options(["u"] + words.flatMap { ["--context", "animated-image-class=" + $0] })
                .request.options
        }
        #expect(try options(["animated"]) == .transformAnimatedImage)
        #expect(try options(["still"]) == .decodeFirstFrameOnly)
        #expect(
            try options(["still", "animated"]) == [.decodeFirstFrameOnly, .transformAnimatedImage])
        let both = ["u", "--option", "match-animated-image-class", "--context"]
        #expect(
            try self.options(both + ["animated-image-class=animated"]).request.options
                == [.matchAnimatedImageClass, .transformAnimatedImage])
        #expect(
            try self.options(both + ["animated-image-class=still"]).request.options
                == .decodeFirstFrameOnly)
        #expect(
            complaint(["u", "--context", "animated-image-class=UIImage"])
                == "--context animated-image-class: must be animated or still, not 'UIImage'")
    }

    @Test func namesOfTheConfigurationHaveOptions() throws {
        let request = try options([
            "u", "--profile", "thumbs", "--preset", "card",
            "--context", "image-preserve-aspect-ratio=no",
            "--context", "image-thumbnail-pixel-size=10x10",
            "--context", "cache-key-filter=text:products/42", "--context", "image-cache=avatars",
            "--context", "cache-serializer=as-is",
        ]).request
        #expect(request.context.profile == "thumbs")
        #expect(request.context.preset == "card")
        #expect(request.thumbnail == Thumbnail(box: Self.ten, preservesAspectRatio: false))
        #expect(request.context.key == .text("products/42"))
        #expect(request.context.cache == "avatars")
        #expect(request.context.serializer == .asIs)
        let plain = try options(["u", "--context", "image-transformer=none"]).request
        #expect(plain.context.withoutTransformer)
        #expect(
            complaint(["u", "--preset", "a b"])
                == "--preset: 'a b' is not a name of 1 to 128 bytes without spaces")
    }

    @Test func aDashIsAnImageWithoutAURL() throws {
        let read = try options(["-", "--rotate", "90", "-o", "-"])
        #expect(read.readsStandardInput && read.request.url.isEmpty)
        #expect(read.request.steps.count == 1 && read.target == .standardOutput)
        #expect(try !options(["u"]).readsStandardInput)
        #expect(try options(["./-"]).request.url == "./-")
    }

    @Test func howTheImageComes() throws {
        let plain = try options(["u"])
        #expect(try options(["u", "--delivery", "auto"]) == plain)
        let chunks = try options(["u", "--delivery", "chunks"])
        #expect(chunks != plain)
        #expect(try options(["u", "--delivery", "mapped"]) != chunks)
        let environment = ["HOME": "/home/a", "IMAGEBUS_DELIVERY": "chunks"]
        #expect(try options(["u"], environment) == chunks)
    }

    @Test func whereTheImageGoes() throws {
        #expect(try options(["u", "-o", "-"]).target == .standardOutput)
        #expect(try options(["u", "-o", "./-"]).target == .file("./-"))
        #expect(try options(["u", "--info"]).request.infoOnly)
        #expect(complaint(["u", "--info", "-o", "x"]) == "--info returns no image: leave out -o")
        #expect(complaint(["u", "-o", ""]) != nil)
    }

    @Test func factsAreWordsAndMeanInfo() throws {
        let request = try options(["u", "--properties", "exif,gps,blurhash:5x4"]).request
        #expect(request.infoOnly)
        #expect(
            request.properties
                == RequestedProperties(
                    [.exif, .gps, .blurHash], blurHash: PixelSize(width: 5, height: 4)))
        #expect(
            try options(["u", "--properties", "blurhash"]).request.properties
                == RequestedProperties(.blurHash))
        #expect(try options(["u", "--info"]).request.properties == RequestedProperties())
        let written = complaint(["u", "--properties", "exif", "-o", "x"])
        #expect(written?.hasPrefix("--properties returns") == true)
        let resized = complaint(["u", "--properties", "exif", "--resize", "1x1"])
        #expect(resized?.hasPrefix("--properties describes") == true)
    }

    @Test(arguments: [
        "", "size", "exif,", "exif:3x3", "blurhash:", "blurhash:0x1", "blurhash:10x1", "blurhash:4",
        "EXIF",
    ])
    func otherWordsAreNoFacts(_ text: String) {
        let expected = complaint(["u", "--properties", text])
        #expect(expected?.contains("list of header, exif, gps") == true)
    }

    @Test(
        arguments: [
            ([], "no URL given"),
            (["a", "b"], "only one URL is allowed, not also 'b'"),
            (
                ["-", "--header", "A: b"],
                "--header requires a URL: standard input has no origin"
            ),
            (["u", "--delivery", "post"], "--delivery: 'post' is not one of auto, mapped, chunks"),
            (["u", "--mode", "fill"], "--mode requires --resize"),
            (["u", "--dpr", "11"], "--dpr: '11' is not a number between 0.1 and 10, such as 2"),
            (["u", "--enlarge"], "--enlarge requires --resize"),
            (["u", "--no-enlarge"], "--no-enlarge requires --resize"),
            (
                ["u", "--blur", "500"],
                "--blur: '500' is not a radius from 0 to 100, such as 5"
            ),
            (["u", "--filter", "a=b"], "--filter is not supported by this version"),
            (
                ["u", "--context", "png-compression=13"],
                "--context png-compression: '13' is not an integer between 1 and 12"
            ),
            (["u", "--quality", "101"], "--quality: '101' is not an integer between 0 and 100"),
            (
                ["u", "--context", "preserve-aspect-ratio=true"],
                "--context preserve-aspect-ratio: requires --thumbnail"
            ),
            (
                ["u", "--header", "no colon"],
                "--header: 'no colon' is not a header, such as 'Accept: image/webp'"
            ),
            (
                ["u", "--endpoint", "ipc:///a/front/front.sock", "--private"],
                "--endpoint and --private cannot be combined"
            ),
            (
                ["u", "--resize", "10"],
                "--resize: '10' is not WIDTHxHEIGHT in pixels, such as 512x418, 512x or x418, "
                    + "at most 32767 each"
            ),
        ] as [([String], String)])
    func whatMakesNoSenseIsNamed(_ arguments: [String], _ message: String) {
        #expect(complaint(arguments) == message)
    }

    @Test func losslessAndJPEGContradictEachOther() throws {
        for arguments in [["--format", "jpeg"], ["-o", "a.jpg"]] {
            let message = complaint(["u", "--lossless"] + arguments)
            #expect(message?.hasPrefix("--lossless is not supported") == true)
        }
        #expect(try options(["u", "--lossless", "-o", "a.webp"]).request.output.lossless)
    }

    @Test func whatIsRefusedIsNotOffered() {
        let help = HelpText.text(of: .get)
        for (name, option) in RequestOptions.names {
            let isOffered = help.contains(" \(name),\n") || help.contains(" \(name)\n")
            #expect(isOffered == !RequestOptions.notSupported.contains(option), "\(name)")
        }
        let message = complaint(["u", "--option", "no-such"])
        #expect(message?.contains("allow-invalid-ssl-certificates") == false)
        let unknown = complaint(["u", "--context", "tier=all"])
        let expected = "--context tier: unknown context option: expected one of custom-manager,"
        #expect(unknown?.hasPrefix(expected) == true)
    }

    @Test(arguments: [
        ["--resize", "1x1"], ["--thumbnail", "1x1"], ["--format", "png"], ["--quality", "5"],
        ["--lossless"],
    ])
    func theOriginalIsNotChanged(_ arguments: [String]) {
        #expect(complaint(["u", "--original"]) == nil)
        #expect(
            complaint(["u", "--original"] + arguments)?.hasPrefix("--original returns") == true)
        #expect(complaint(["u", "--info"] + arguments)?.hasPrefix("--info describes") == true)
    }

    @Test func aRequestHasALimitedNumberOfSteps() {
        let turns = Array(repeating: ["--rotate", "90"], count: 33).joined()
        #expect(complaint(["u"] + turns) == "at most 32 steps are allowed")
        #expect(complaint(["u"] + turns.dropLast(2)) == nil)
    }

    @Test func anUnknownOptionOfSDWebImageIsAnsweredWithThoseThereAre() {
        let message = complaint(["u", "--option", "refresh-all"])
        #expect(message?.contains("from-cache-only") == true)
        #expect(message?.hasPrefix("--option: 'refresh-all' is not a load option") == true)
    }

    @Test func allFramesAndTheTerminalAreForAURLAlone() throws {
        let plain = try options(["u"])
        #expect((plain.framesDirectory, plain.shows) == (nil, false))
        #expect(try options(["u", "--frames", "d", "--json"]).framesDirectory == "d")
        #expect(try options(["u", "--show", "--resize", "9x9"]).shows)
        #expect(complaint(["u", "--frames", ""])?.contains("name is empty") == true)
        for name in ["frames=d", "show"] {
            #expect(complaint(["-", "--\(name)"])?.contains("not standard input") == true)
            for other in ["output=a.png", "frame=1", "info", "original", "slot=s"] {
                let message = complaint(["u", "--\(name)", "--\(other)"])
                let word = other.prefix { $0 != "=" }
                #expect(message?.hasSuffix("leave out --\(word)") == true, "\(message ?? "")")
            }
        }
        #expect(complaint(["u", "--show", "--json"])?.hasSuffix("leave out --json") == true)
    }
}
