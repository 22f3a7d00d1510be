import Model
import TestKit

/// Pixels as floating-point numbers: red, green, blue and alpha from 0 to 255. Tests compute the
/// expected result of a step with them, sample by sample.
struct ScalarImage {
    let width: Int
    let height: Int
    var pixels: [[Double]]

    init(_ width: Int, _ height: Int, _ pixel: (_ x: Int, _ y: Int) -> [Double]) {
        (self.width, self.height) = (width, height)
        pixels = (0..<height).flatMap { y in (0..<width).map { x in pixel(x, y) } }
    }

    init(_ source: Source) {
        let bands = Int(source.layout.planes[0].bands.rawValue)
        self.init(source.info.size.width, source.info.size.height) { x, y in
            let pixel = source.pixel(x, y).map { Double($0) }
            return bands % 2 == 0 ? pixel : pixel + [255]
        }
    }

    init(_ result: Transformed) {
        self.init(result.size.width, result.size.height) { x, y in
            let pixel = result.pixel(x, y).map { Double($0) }
            let colors = pixel.count < 3 ? [pixel[0], pixel[0], pixel[0]] : Array(pixel.prefix(3))
            return colors + [pixel.count % 2 == 0 ? pixel[pixel.count - 1] : 255]
        }
    }

    /// A pixel; beyond the edges, the edge is repeated.
    func at(_ x: Int, _ y: Int) -> [Double] {
        pixels[min(max(0, y), height - 1) * width + min(max(0, x), width - 1)]
    }

    func map(_ body: ([Double]) -> [Double]) -> ScalarImage {
        ScalarImage(width, height) { body(at($0, $1)) }
    }

    /// Colors multiplied by alpha, and divided by it again.
    var premultiplied: ScalarImage {
        map { pixel in pixel.prefix(3).map { $0 * pixel[3] / 255 } + [pixel[3]] }
    }
    var straight: ScalarImage {
        map { pixel in
            pixel.prefix(3).map { pixel[3] > 0 ? $0 * 255 / pixel[3] : 0 } + [pixel[3]]
        }
    }

    /// Weighted sums of the pixels around each, with weights by offset.
    func sum(_ weights: [(x: Int, y: Int, weight: Double)]) -> ScalarImage {
        ScalarImage(width, height) { x, y in
            var sum = [0.0, 0, 0, 0]
            for place in weights {
                let pixel = at(x + place.x, y + place.y)
                for band in 0..<4 { sum[band] += pixel[band] * place.weight }
            }
            return sum
        }
    }

    /// The largest difference of samples, clipped to 0 to 255; infinite if the sizes differ.
    func difference(from other: ScalarImage) -> Double {
        guard (width, height) == (other.width, other.height) else { return .infinity }
        return zip(pixels, other.pixels).reduce(0) { worst, pair in
            zip(pair.0, pair.1).reduce(worst) { worst, samples in
                let (left, right) = (min(max(0, samples.0), 255), min(max(0, samples.1), 255))
                return max(worst, abs(left - right))
            }
        }
    }
}

extension Source {
    /// Random colors, with alpha that is never too low for accurate colors.
    static func noise(_ width: Int, _ height: Int, _ bands: PixelPlane.Bands) -> Source {
        var random = SeededGenerator(seed: 5)
        let count = Int(bands.rawValue)
        return Source(width, height, bands) { _, _, band in
            let isAlpha = count % 2 == 0 && band == count - 1
            return Int.random(in: isAlpha ? 64...255 : 0...255, using: &random)
        }
    }
}
