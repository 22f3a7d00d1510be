import Model
import TestKit

@testable import Transforming

/// A random part of a plane and the size to which it is sampled. Every second one reduces by 1.9 to
/// 2.6 in both directions.
struct RandomGeometry: CustomStringConvertible {
    let plane: PixelSize
    let depth: Int
    let region: ActiveRegion
    let target: PixelSize
    /// Whether samples keep away from black and white, so that nothing is clipped between two
    /// passes.
    let isSoft: Bool

    init(_ random: inout SeededGenerator) {
        let width = Self.side(&random)
        plane = PixelSize(width: width, height: width > 300 ? 40 : Self.side(&random))
        depth = random.happens(60) ? 1 : 2
        isSoft = random.happens(50)
        let (columns, rows) = (Self.part(plane.width, &random), Self.part(plane.height, &random))
        region = ActiveRegion(
            left: columns.start, top: rows.start, width: columns.extent, height: rows.extent)
        let isHalved = random.happens(50)
        target = PixelSize(
            width: Self.samples(of: columns.extent, isHalved, &random),
            height: Self.samples(of: rows.extent, isHalved, &random))
    }

    var isSplit: Bool { PlaneSampler.isSplit(region, of: plane, to: target) }

    var description: String { "\(plane) of \(depth) bytes, \(region), to \(target)" }

    private static func side(_ random: inout SeededGenerator) -> Int {
        Int.random(in: 1...(random.happens(10) ? 1100 : 260), using: &random)
    }

    /// The whole side, a part of any size, or one of few samples.
    private static func part(
        _ side: Int, _ random: inout SeededGenerator
    ) -> (start: Double, extent: Double) {
        guard random.happens(50) else { return (0, Double(side)) }
        let most = random.happens(50) ? Double(side) : min(Double(side), 70)
        let extent = Double.random(in: 0.01...1, using: &random) * most
        return (Double.random(in: 0...(Double(side) - extent), using: &random), extent)
    }

    private static func samples(
        of extent: Double, _ isHalved: Bool, _ random: inout SeededGenerator
    ) -> Int {
        guard isHalved else { return Int.random(in: 1...260, using: &random) }
        return max(1, Int(extent / Double.random(in: 1.9...2.6, using: &random)))
    }
}
