import Model
import StageKit
import Testing
import Vips

/// The properties of an image; they need no output space.
func properties(
    of bytes: [UInt8], _ wanted: RequestedProperties, limits: ImageLimits = ImageLimits()
) throws -> ImageProperties {
    let image = try perform(bytes, in: HeapSpace(bytesMax: 0)) {
        ($0.need, $0.properties, $0.limits) = (.header, wanted, limits)
    }
    #expect(image.frames.isEmpty)
    return try #require(image.properties)
}

/// An image computed by one formula each for red, green, blue and alpha, modulo 256.
struct FormulaImage: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let width: Int
    let height: Int
    let pixel: @Sendable (_ x: Int, _ y: Int) -> [Int]

    init(
        _ name: String, _ width: Int, _ height: Int,
        _ pixel: @escaping @Sendable (_ x: Int, _ y: Int) -> [Int]
    ) {
        (testDescription, self.width, self.height, self.pixel) = (name, width, height, pixel)
    }

    /// The image as a PNG of three or four bands.
    func png(bands: Int) throws -> [UInt8] {
        try Sources.encoded(.png(compression: 1), width, height, bands: bands) { x, y, band in
            pixel(x, y)[band] % 256
        }
    }

    static let gradient = FormulaImage("gradient", 32, 20) { x, y in [x * 8, y * 12, x * y, 255] }
    static let tall = FormulaImage("tall", 9, 31) { x, y in
        [x * 29 + y * 3, x * x * 5, y * 8, 255]
    }
    static let square = FormulaImage("square", 100, 100) { x, y in
        [x * x + y, x * 3, y * y, 255]
    }
    static let gray = FormulaImage("grey", 16, 9) { x, _ in [x * 15, x * 15, x * 15, 255] }
    static let dot = FormulaImage("dot", 1, 1) { _, _ in [10, 200, 30, 255] }
    static let veiled = FormulaImage("veiled", 24, 24) { x, y in
        [200, x * 10, y * 10, (x + y) % 3 == 0 ? 0 : x * 11]
    }
    static let clear = FormulaImage("clear", 5, 4) { x, y in [x * 40, y * 40, 7, 0] }
}
