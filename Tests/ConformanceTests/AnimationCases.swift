import Imagebus
import Model
import StackKit
import TestKit
import Testing

extension Conformance {
    /// Single frames of animations (SEMANTICS §11.30), compared with those of other decoders.
    @Suite struct AnimationCases {
        private let origin = OriginServer()

        private func serve(_ name: String) throws -> AnimatedFile {
            let file = try AnimatedFile(generated: name)
            origin.route("/\(name)", .bytes(file.bytes))
            return file
        }

        private func properties(_ name: String) async throws -> AnimationProperties? {
            var request = ImageRequest(url: origin.url("/\(name)"))
            request.infoOnly = true
            request.properties = RequestedProperties([.animation])
            let client = try SharedStack.current.client()
            return try await client.load(request).response.properties?.animation
        }

        /// One frame as RGBA, encoded losslessly by the stack.
        private func frame(_ index: Int, of name: String) async throws -> Pixels {
            var request = ImageRequest(url: origin.url("/\(name)"))
            request.frame = index
            request.output.format = .png
            let client = try SharedStack.current.client()
            let bytes = try await client.load(request).response.bytes
            return try Pixels(decoding: #require(bytes?.array))
        }

        private func expectFrames(
            _ order: some Sequence<Int>, of name: String, _ file: AnimatedFile
        ) async throws {
            for index in order {
                let found = try await frame(index, of: name)
                #expect(found.size == "\(file.width)x\(file.height)")
                var wrong = 0
                for y in 0..<file.height {
                    for x in 0..<file.width {
                        let start = 4 * (y * file.width + x)
                        let wanted = Array(file.frames[index][start..<start + 4])
                        let pixel = Array((found.at(x, y) + [255]).prefix(4))
                        if pixel != wanted, pixel[3] != 0 || wanted[3] != 0 { wrong += 1 }
                    }
                }
                #expect(wrong == 0, "\(name), frame \(index)")
            }
        }

        @Test(arguments: ["cleared.gif", "mixed.apng", "mixed.webp", "cut-turned.avif"])
        func case098_anAnimationHasItsFramesDurationsAndLoops(name: String) async throws {
            let file = try serve(name)
            let properties = try #require(await properties(name))
            #expect(properties.plays == file.plays)
            let shown = file.stated.map { UInt32($0 < 11_000 ? 100_000 : $0) }
            #expect(properties.durations == shown)
            try await expectFrames([0, file.frames.count - 1], of: name, file)
        }

        /// In JSON and as text, including the sum.
        @Test func theFactsSayHowLongAllFramesTake() async throws {
            let file = try serve("cleared.gif")
            let url = origin.url("/cleared.gif")
            let stack = try SharedStack.current
            let shown = file.stated.map { $0 < 11_000 ? 100 : $0 / 1_000 }.reduce(0, +)
            let answer = try stack.answer(url, ["--properties", "animation"])
            let found = answer["facts"]?["animation"]
            #expect(found?["frames"]?.integer == file.frames.count)
            #expect(found?["milliseconds"]?.integer == shown)
            #expect(found?["loops"]?.integer == 8)
            let lines = try stack.get([url, "--properties", "animation"]).outputText
            #expect(
                lines.hasSuffix(
                    "frames: \(file.frames.count)\nmilliseconds: \(shown)\nloops: 8\n"))
            let info = try stack.get([url, "--info"]).outputText
            #expect(info.hasPrefix("gif 37x29, \(file.frames.count) frames, "), "\(info)")
        }

        @Test func case082_aGIFThatDoesNotSayHowOftenIsShownOnce() async throws {
            let file = try serve("restored.gif")
            #expect(file.plays == 1)
            #expect(try await properties("restored.gif")?.loops == 1)
            _ = try serve("cleared.gif")
            let repeated = try await properties("cleared.gif")
            #expect(repeated?.loops == 7 && repeated?.plays == 8)
            _ = try serve("kept.gif")
            #expect(try await properties("kept.gif")?.loops == 0)
        }

        @Test(arguments: ["mixed-interlaced.gif", "mixed.apng", "alpha.avif"])
        func case101_everyFrameCanBeAskedForInAnyOrder(name: String) async throws {
            let file = try serve(name)
            try await expectFrames(file.frames.indices, of: name, file)
            _ = try await SharedStack.current.operatorClient().clear(.all)
            var chance = SeededGenerator(seed: 20_261_124)
            try await expectFrames(
                file.frames.indices.shuffled(using: &chance), of: name, file)
        }

        @Test func case104_aStillImageHasOneFrame() async throws {
            let url = origin.url("/still.png")
            origin.route("/still.png", .bytes(try Images.quadrants().png()))
            #expect(try await properties("still.png") == nil)
            let stack = try SharedStack.current
            let answer = try stack.answer(url, ["--frame", "0", "--format", "png"])
            #expect(answer["pages"]?.integer == 1)
            let none = try stack.get([url, "--frame", "1"])
            #expect(none.exitStatus == 65, "\(none)")
            #expect(none.errorText.contains("frame 1 does not exist: the image has 1, numbered"))
        }

        @Test(arguments: ["half.apng", "half-over-clean.apng", "half-replaced.webp"])
        func case123_framesBlendAndGoAsTheirFileSays(name: String) async throws {
            let file = try serve(name)
            try await expectFrames(file.frames.indices, of: name, file)
        }
    }
}
