import Model
import Testing

@testable import Transforming

@Suite struct PlanarPlanTests {
    @Test func aResizeIsOneScaling() throws {
        let (plan, left) = try folded([.resize(PixelSize(width: 50, height: 50), .fit)])
        #expect(plan.size == PixelSize(width: 50, height: 25))
        #expect(plan.part == .whole && plan.bounds == .whole)
        #expect(left.isEmpty)
    }

    @Test func fillingCutsTheMiddleOutAfterScaling() throws {
        let (plan, left) = try folded([.resize(PixelSize(width: 50, height: 50), .fill)])
        #expect(plan.size == PixelSize(width: 50, height: 50))
        #expect(plan.part == ActiveRegion(left: 0.25, top: 0, width: 0.5, height: 1))
        #expect(plan.bounds == .whole, "the cropped part was scaled with the rest")
        #expect(left.isEmpty)
    }

    @Test func whatIsCutOffBeforeScalingIsNotLookedAt() throws {
        let rect = PixelRect(x: 20, y: 10, size: PixelSize(width: 40, height: 40))
        let (plan, _) = try folded([.crop(rect), .resize(PixelSize(width: 10, height: 10), .fit)])
        #expect(plan.part == ActiveRegion(left: 0.1, top: 0.1, width: 0.2, height: 0.4))
        #expect(plan.bounds == plan.part)
    }

    /// The stored image is 200 × 100 with its corner A at the top left; orientation 6 shows A at
    /// the top right.
    @Test func aCropCountsInWhatIsDisplayed() throws {
        let rect = PixelRect(x: 90, y: 0, size: PixelSize(width: 10, height: 20))
        let (plan, _) = try folded([.crop(rect)], exif: 6, size: PixelSize(width: 100, height: 200))
        #expect(isClose(plan.part, ActiveRegion(left: 0, top: 0, width: 0.1, height: 0.1)))
    }

    @Test func turnsAndFlipsAreFoldedIntoTheOrientation() throws {
        let (plan, left) = try folded([
            .rotate(Rotation(degreesClockwise: 90)), .flip(horizontal: true, vertical: false),
        ])
        #expect(plan.orientation.exif == 5)
        #expect(plan.size == PixelSize(width: 100, height: 200))
        #expect(left.isEmpty)
    }

    @Test func paddingASecondResizeAndACanvasThatStaysAreLeft() throws {
        let letterbox = TransformStep.resize(PixelSize(width: 50, height: 50), .letterbox)
        #expect(try folded([letterbox]).left.map(\.name) == ["resize", "settle"])
        let box = TransformStep.resize(PixelSize(width: 50, height: 50), .fit)
        let larger = TransformStep.resize(PixelSize(width: 90, height: 90), .stretch)
        #expect(try folded([box, larger]).left.count == 2)
        let turn = TransformStep.rotate(Rotation(radians: .pi / 2, fitsSize: false))
        #expect(try folded([box, turn]).left.map(\.name) == ["rotate", "settle"])
    }

    @Test func aPlanIsHeldToTheLimits() {
        let limits = ImageLimits(sideMax: 300)
        let box = TransformStep.resize(PixelSize(width: 301, height: 10), .stretch)
        let error = #expect(throws: ImageError.self) { try folded([box], limits: limits) }
        #expect(error?.code == .limitExceeded)
    }

    private func folded(
        _ steps: [TransformStep], exif: Int = 1,
        size: PixelSize = PixelSize(width: 200, height: 100),
        limits: ImageLimits = ImageLimits()
    ) throws -> (plan: PlanarPlan, left: [any ImageStep]) {
        var plan = PlanarPlan(size: size, orientation: Orientation(exif: exif))
        let left = try Pipeline(steps).fold(into: &plan, limits: limits)
        return (plan, left)
    }

    private func isClose(_ left: ActiveRegion, _ right: ActiveRegion) -> Bool {
        zip(
            [left.left, left.top, left.width, left.height],
            [right.left, right.top, right.width, right.height]
        ).allSatisfy { abs($0 - $1) < 1e-9 }
    }
}
