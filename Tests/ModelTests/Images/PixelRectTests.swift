import Model
import Testing

@Suite struct PixelRectTests {
    private func rect(_ x: Int, _ y: Int, _ width: Int, _ height: Int) -> PixelRect {
        PixelRect(x: x, y: y, size: PixelSize(width: width, height: height))
    }

    private let bounds = PixelSize(width: 100, height: 80)

    /// `UpstreamSizeTests` has the intersections of other rectangles.
    @Test func whatIsEmptyIsNothing() {
        #expect(rect(0, 0, 0, 10).intersection(with: bounds) == nil)
        #expect(rect(0, 0, 10, -1).intersection(with: bounds) == nil)
        #expect(rect(0, 0, 1, 1).intersection(with: PixelSize(width: 0, height: 1)) == nil)
        #expect(rect(99, 79, 1, 1).intersection(with: bounds) == rect(99, 79, 1, 1))
        #expect(rect(100, 0, 1, 1).intersection(with: bounds) == nil)
    }

    @Test func extremeNumbersDoNotOverflow() {
        #expect(rect(50, 50, .max, .max).intersection(with: bounds) == rect(50, 50, 50, 30))
        #expect(rect(.min, .min, .max, .max).intersection(with: bounds) == nil)
        #expect(rect(.max, .max, .max, .max).intersection(with: bounds) == nil)
        #expect(rect(.min, 0, .max, 1).intersection(with: bounds) == nil)
        #expect(PixelSize(width: .max, height: 2).area == nil)
        #expect(bounds.area == 8_000)
        #expect(bounds.transposed == PixelSize(width: 80, height: 100))
        #expect("\(bounds)" == "100x80")
    }
}
