import Model
import ProcessRuntime
import TestKit
import Testing

@testable import ImagebusWorker

@Suite struct TransformerStageTests {
    private let bench: StageBench

    init() throws { bench = try StageBench() }

    /// Inverts each sample, or keeps only the first one of each pixel.
    private struct Scripted: Transformer {
        let steps = ["test.invert", "test.first"]

        func bands(after step: CustomStep, of image: PixelForm) throws -> PixelForm.Bands {
            step.name == "test.first" ? .gray : image.bands
        }

        func transform(
            _ samples: Span<UInt8>, of image: PixelForm, by step: CustomStep,
            into output: inout MutableSpan<UInt8>, _ cancellation: Cancellation
        ) throws {
            if let word = step.parameters["bad"] { throw InvalidInput("\(word) is not a number") }
            let stride = step.name == "test.first" ? image.bands.rawValue : 1
            for index in output.indices {
                let sample = samples[index * stride]
                output[index] = stride == 1 ? 255 - sample : sample
            }
        }
    }

    private func work(
        _ steps: [TransformStep],
        _ layout: PixelLayout = PixelForm(
            width: 2, height: 2, bands: .rgb
        ).layout()
    ) -> TransformWork {
        TransformWork(
            source: StageBench.nowhere, layout: layout,
            sourceInfo: ImageInfo(format: .png, size: PixelSize(width: 2, height: 2)),
            steps: steps, output: OutputOptions(), limits: ImageLimits())
    }

    private func perform(_ work: TransformWork) throws -> EncodedImage {
        try Array<UInt8>(1...20).withUnsafeBytes { input in
            try TransformerStage(transformer: Scripted(), log: bench.log).perform(
                work, input: input, output: bench.arena,
                cancellation: Cancellation(CancellationFlag()))
        }
    }

    private func step(_ name: String, _ parameters: [String: String] = [:]) -> TransformStep {
        .custom(CustomStep(name, parameters: parameters))
    }

    /// The header format of pam(5).
    @Test func pixelsFollowAHeaderOf128Bytes() throws {
        try bench.soil(200)
        let image = try perform(work([step("test.invert")]))
        let bytes = try bench.bytes(image.reference)
        #expect(image.info == ImageInfo(format: .pam, size: PixelSize(width: 2, height: 2)))
        #expect(bytes.count == 140 && Array(bytes[128...]) == (1...12).map { 255 - $0 })
        let lines = String(decoding: bytes[..<128], as: UTF8.self).split(separator: "\n")
        #expect(lines.first == "P7" && lines.last == "ENDHDR")
        #expect(lines.contains("WIDTH 2") && lines.contains("DEPTH 3"))
        #expect(lines.contains("TUPLTYPE RGB"))
    }

    @Test func aStepMayLeaveOtherSamples() throws {
        let image = try perform(work([step("test.first")]))
        #expect(try bench.bytes(image.reference).dropFirst(128) == [1, 4, 7, 10])
        #expect(!image.info.hasAlpha)
    }

    @Test func pixelsMayLieAnywhereInTheirBlock() throws {
        let layout = PixelForm(width: 2, height: 2, bands: .rgb).layout(at: 8)
        let image = try perform(work([step("test.first")], layout))
        #expect(try bench.bytes(image.reference).dropFirst(128) == [9, 12, 15, 18])
    }

    @Test func aParameterThatSaysNothingIsTheCallers() throws {
        let error = refusal { try perform(work([step("test.invert", ["bad": "x"])])) }
        #expect(error?.code == .stepFailed && error?.details == ["step": "test.invert"])
        #expect(error?.message == "the step test.invert failed: x is not a number")
        #expect(bench.arena.usage.blocks == 0)
    }

    /// Layouts that exceed the block, have gaps, are rotated, have three planes, or have 16-bit
    /// samples.
    @Test func onlyPixelsAsTheyAreShownAreTaken() throws {
        let size = PixelSize(width: 2, height: 2)
        var turned = PixelForm(width: 2, height: 2, bands: .rgb).layout()
        turned.orientation = Orientation(exif: 6)
        let plane = PixelPlane(bands: .gray, size: size, stride: 2)
        let layouts = [
            PixelForm(width: 2, height: 2, bands: .rgb).layout(at: 9),
            PixelLayout(bands: .rgb, size: size, stride: 8), turned,
            PixelLayout(planes: [plane, plane, plane], orientation: .upright),
            PixelLayout(bands: .gray, size: size, stride: 4, samples: SampleForm(bits: 16)),
        ]
        for layout in layouts {
            let error = refusal { try perform(work([step("test.invert")], layout)) }
            #expect(error?.code == .invalidRequest, "\(layout)")
        }
    }

    @Test func stepsOfOursAreNoneOfIts() throws {
        for steps in [[], [.flip(horizontal: true, vertical: false)], [step("a.b"), step("a.b")]] {
            let error = refusal { try perform(work(steps)) }
            #expect(error?.code == .invalidRequest)
        }
    }
}
