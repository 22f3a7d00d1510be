import Model
import Testing

@testable import ImagebusWorker

@Suite struct FramePlanTests {
    private let limits = ImageLimits(
        sideMax: 100, pixelsMax: 1_000, pixelBytesMax: 2_000, pagesMax: 8)

    private func plan(
        _ width: Int, _ height: Int, _ bands: PixelForm.Bands, frames: Int = 0,
        wantsAll: Bool = false
    ) -> FramePlan {
        FramePlan(
            PixelForm(width: width, height: height, bands: bands),
            AnimationProperties(durations: [UInt32](repeating: 9, count: frames), loops: 2),
            wantsAll: wantsAll)
    }

    private func error(_ plan: FramePlan, _ limits: ImageLimits) -> ImageError? {
        refusal { try plan.byteCount(within: limits) }
    }

    /// Each limit separately, with the first number beyond it.
    @Test func whatIsBeyondALimitIsRefused() {
        for (limit, plan) in [
            ("side", plan(101, 1, .gray)), ("side", plan(1, 101, .gray)),
            ("pixels", plan(91, 11, .gray)), ("bytes", plan(100, 10, .rgb)),
            ("pages", plan(1, 1, .gray, frames: 9)),
            ("bytes", plan(50, 10, .gray, frames: 3, wantsAll: true)),
            ("bytes", plan(7, 9, .gray, frames: 8, wantsAll: true)),
        ] {
            let error = error(plan, limits)
            #expect(error?.code == .limitExceeded && error?.details == ["limit": limit], "\(plan)")
        }
        var many = limits
        (many.pagesMax, many.pixelsMax, many.pixelBytesMax) = (99_999, 99_999, 99_999)
        let most = AnimationProperties.framesMax
        for (frames, limit) in [(most, nil), (most + 1, "frames")] {
            let error = error(plan(1, 1, .rgba, frames: frames, wantsAll: true), many)
            #expect(error?.details["limit"] == limit)
        }
        // Even the largest numbers don't overflow.
        let huge = plan(.max / 8, 1, .gray, frames: 9, wantsAll: true)
        let none = ImageLimits(sideMax: .max, pixelsMax: .max - 1, pixelBytesMax: .max - 1)
        #expect(error(huge, none)?.details["limit"] == "bytes")
    }

    @Test func whatIsAtTheLimitsIsDecoded() throws {
        #expect(try plan(100, 10, .grayAlpha).byteCount(within: limits) == 2_000)
        #expect(try plan(100, 2, .rgb, frames: 5).byteCount(within: limits) == 600)
        let all = plan(31, 4, .gray, frames: 4, wantsAll: true)
        #expect(try all.byteCount(within: limits) == 31 * 4 * 4 * 4)
        #expect(all.layout.byteCount == 31 * 4 * 4 * 4 && all.layout.frames == 4)
    }

    @Test func aSizeThatIsNoneIsTheFault() {
        #expect(throws: InvalidInput("invalid header")) {
            try plan(0, 4, .rgb).byteCount(within: limits)
        }
    }

    /// A single frame isn't an animation, whatever its coder reports.
    @Test func framesAreNamedByTheirNumbers() throws {
        #expect(try plan(1, 1, .rgb, frames: 4).numbers(from: 3) == 3..<4)
        #expect(try plan(1, 1, .rgb, frames: 4, wantsAll: true).numbers(from: 0) == 0..<4)
        #expect(try plan(1, 1, .rgb, frames: 1, wantsAll: true).numbers(from: 0) == 0..<1)
        #expect(plan(1, 1, .rgb, frames: 1, wantsAll: true).layout.animation == nil)
        #expect(plan(1, 1, .rgb, frames: 4).layout.animation == nil)
        for (frames, number) in [(0, 1), (4, 4), (4, -1)] {
            #expect(throws: ImageError.self) {
                try plan(1, 1, .rgb, frames: frames).numbers(from: number)
            }
        }
    }
}
