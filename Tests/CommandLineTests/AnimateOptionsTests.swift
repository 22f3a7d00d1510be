import CommandLineInterface
import Imagebus
import Model
import Testing

@testable import imagebus_cli

@Suite struct AnimateOptionsTests: OptionTests {
    typealias Options = AnimateOptions

    @Test func stepsAreOfTheFramesAndTheOutputIsOfTheWhole() throws {
        let options = try options([
            "https://a/b.png", "c.png", "data:image/png;base64,AAAA", "-o", "all.webp",
            "--resize", "9x9", "--quality", "70", "--loops", "3", "--header", "Accept: image/png",
            "--option", "from-cache-only",
        ])
        #expect(
            options.sources == [
                .url("https://a/b.png"), .file("c.png"), .url("data:image/png;base64,AAAA"),
            ])
        #expect((options.durations, options.loops) == ([100, 100, 100], 3))
        #expect(options.target == .file("all.webp"))
        #expect(options.request.output.format == .webp && options.request.output.quality == 70)
        #expect(options.request.steps.isEmpty && options.request.headers.isEmpty)
        #expect(options.request.options == .transformAnimatedImage)
        let parts = options.parts
        let nine = PixelSize(width: 9, height: 9)
        #expect(parts.allSatisfy { $0.request.steps == [.resize(nine, .fit)] })
        #expect(parts.map(\.request.url) == ["https://a/b.png", "", "data:image/png;base64,AAAA"])
        #expect(parts.map(\.request.headers.count) == [1, 0, 1])
        #expect(parts.allSatisfy { $0.request.options == .fromCacheOnly })
    }

    @Test func aDurationIsOfAllFramesOrThereIsOneOfEach() throws {
        let two = ["a.png", "b.png", "-o", "a.gif", "--duration"]
        #expect(try options(two + ["2s"]).durations == [2_000, 2_000])
        #expect(try options(two + ["40ms", "--duration", "1h"]).durations == [40, 3_600_000])
        let long = complaint(two + ["2h"])
        #expect(long?.hasPrefix("--duration: '2h' is not a time from 1ms") == true)
        #expect(
            complaint(["c.png"] + two + ["1s", "--duration", "2s"])
                == "--duration is given 2 times for 3 frames: give it once for all frames, or "
                + "once per frame")
    }

    @Test(arguments: [
        (["-o", "a.gif"], ImageFormat.gif), (["-o", "a.png"], .png), (["-o", "-"], .gif),
        (["-o", "anything", "--format", "webp"], .webp), (["-o", "anything"], .gif),
    ])
    func theNameSaysTheFormat(arguments: [String], format: ImageFormat) throws {
        #expect(try options(["a.png"] + arguments).request.output.format == format)
    }

    @Test(arguments: [
        (["-o", "a.gif"], "no URL or FILE given"), (["a.png"], "-o FILE is required"),
        (["a.png", "-o", "a.jpg"], "jpeg cannot store animations: use gif, webp or png"),
        (["a.png", "-o", "a.gif", "--format", "webp"], "--format webp does not match"),
        (["-", "-o", "a.gif"], "'-' is neither a URL nor a FILE"),
        (["http://", "-o", "a.gif"], "'http://': "),
        (["a.png", "-o", "a.gif", "--loops", "65536"], "--loops: '65536' is not an integer"),
        (["a.png", "-o", "a.gif", "--lossless"], "--lossless is not supported by gif"),
    ])
    func aMistakeSaysWhatToDo(arguments: [String], expected: String) {
        let found = complaint(arguments)
        #expect(found?.hasPrefix(expected) == true, "\(found ?? "")")
    }
}
