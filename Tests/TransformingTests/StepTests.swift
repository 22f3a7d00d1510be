import Model
import Testing

@Suite struct StepTests {
    @Test(arguments: [
        (0, [0, 1, 2, 3]), (1, [2, 0, 3, 1]), (2, [3, 2, 1, 0]), (3, [1, 3, 0, 2]),
    ])
    func quartersTurnClockwise(turns: Int, quarters: [Int]) throws {
        let rotation = Rotation(degreesClockwise: Double(turns) * 90)
        let result = try transform(.quarters(40, 20), [.rotate(rotation)])
        #expect(result.quarters == quarters)
        #expect(
            result.size
                == (turns % 2 == 1
                    ? PixelSize(width: 20, height: 40) : PixelSize(width: 40, height: 20)))
    }

    @Test func aTurnOnTheSameCanvasCutsAndLeavesTransparent() throws {
        let rotation = Rotation(radians: -.pi / 2, fitsSize: false)
        let result = try transform(.quarters(40, 20), [.rotate(rotation)])
        #expect(result.size == PixelSize(width: 40, height: 20))
        #expect(result.pixel(5, 10)[3] == 0)
        #expect(result.pixel(35, 10)[3] == 0)
        #expect(result.pixel(12, 5) == [160, 160, 160, 255])
        #expect(result.pixel(28, 5) == [40, 40, 40, 255])
    }

    @Test func anAngleThatIsNoneIsAnErrorThatNamesTheStep() {
        let error = failure(
            .quarters(40, 20), [.rotate(Rotation(radians: 1e30, fitsSize: true))])
        #expect(error?.code == .stepFailed)
        #expect(error?.details["step"] == "rotate")
    }

    @Test(arguments: [
        (true, false, [1, 0, 3, 2]), (false, true, [2, 3, 0, 1]), (true, true, [3, 2, 1, 0]),
        (false, false, [0, 1, 2, 3]),
    ])
    func flipsExchangeSides(horizontal: Bool, vertical: Bool, quarters: [Int]) throws {
        let result = try transform(
            .quarters(40, 20), [.flip(horizontal: horizontal, vertical: vertical)])
        #expect(result.quarters == quarters)
        #expect(result.size == PixelSize(width: 40, height: 20))
    }

    @Test func aCropCountsFromTheTopLeftAndIsCutToTheImage() throws {
        let source = Source(50, 40) { x, y, band in band == 0 ? x : y }
        let inside = try transform(source, [crop(10, 20, 5, 6)])
        #expect(inside.size == PixelSize(width: 5, height: 6))
        #expect(inside.pixel(0, 0) == [10, 20, 20])
        #expect(inside.pixel(4, 5) == [14, 25, 25])
        let over = try transform(source, [crop(-5, 30, 20, 100)])
        #expect(over.size == PixelSize(width: 15, height: 10))
        #expect(over.pixel(0, 0) == [0, 30, 30])
    }

    @Test(arguments: [(50, 0, 5, 5), (0, -9, 10, 9), (5, 5, 0, 5), (5, 5, 5, -1)])
    func anEmptyCropIsAnErrorThatNamesTheStep(x: Int, y: Int, width: Int, height: Int) {
        let error = failure(.quarters(50, 40), [crop(x, y, width, height)])
        #expect(error?.code == .stepFailed)
        #expect(error?.details["step"] == "crop")
    }

    @Test func stepsRunInTheOrderGiven() throws {
        let source = Source.quarters(80, 40)
        let turned = TransformStep.rotate(Rotation(degreesClockwise: 90))
        let cut = crop(0, 0, 20, 20)
        #expect(try transform(source, [turned, cut]).pixel(10, 10)[0] == 160)
        #expect(try transform(source, [cut, turned]).pixel(10, 10)[0] == 40)
        let many = try transform(
            source,
            [
                .resize(PixelSize(width: 40, height: 40), .fit), turned,
                .flip(horizontal: true, vertical: true), crop(0, 0, 20, 30),
                .resize(PixelSize(width: 10, height: 10), .letterbox),
            ])
        #expect(many.size == PixelSize(width: 10, height: 10))
    }

    /// A partly filled column at the right is at the left after a flip, where it must not count.
    @Test(arguments: [
        TransformStep.flip(horizontal: true, vertical: true),
        .rotate(Rotation(degreesClockwise: 180)), .rotate(Rotation(degreesClockwise: 90)),
        .rotate(Rotation(degreesClockwise: 270)), .flip(horizontal: false, vertical: true),
    ])
    func theActiveRegionTurnsWithTheImage(step: TransformStep) throws {
        var source = Source(101, 51, .gray) { x, y, _ in x == 100 || y == 50 ? 255 : 0 }
        source.info.size = PixelSize(width: 1001, height: 501)
        source.layout.planes[0].activeWidth = 100.1
        source.layout.planes[0].activeHeight = 50.1
        // Each 10 columns of the result cover about one of the source, and white is a tenth of one.
        let result = try transform(source, [step])
        let white = result.samples.count { $0 > 128 }
        #expect(Double(white) / Double(result.samples.count) < 0.02)
    }

    private func crop(_ x: Int, _ y: Int, _ width: Int, _ height: Int) -> TransformStep {
        .crop(PixelRect(x: x, y: y, size: PixelSize(width: width, height: height)))
    }
}
