import ImageModel
import StageContract
import TestKit
import Testing
import Zimg

@testable import Transforming

@Suite struct PlaneSamplerTests {
    /// Samples that say their row: whether columns are sampled as well makes no difference to
    /// them. zimg 3.0.4 by itself is 8 rows off where few of many rows are looked at.
    @Test func rowsAreTheOnesAskedFor() throws {
        let sampler = PlaneSampler(graphs: ZimgGraphCache(), cancellation: CancellationFlag())
        let size = PixelSize(width: 60, height: 150)
        let plane = Plane(size)
        for row in 0..<size.height {
            let start = plane.mutableBase + row * plane.stride
            start.initializeMemory(as: UInt8.self, repeating: UInt8(row), count: size.width)
        }
        var random = SeededGenerator(seed: 3)
        for _ in 0..<1000 {
            let height = Double.random(in: 0.2...(random.happens(70) ? 4 : 100), using: &random)
            // Not so near the edges that the filter looks beyond them.
            let top = Double.random(in: 12...(138 - height), using: &random)
            let columns = Int.random(in: 20...240, using: &random)
            let rows = Int.random(in: max(1, Int(height / 3))...80, using: &random)
            let region = ActiveRegion(top: top, width: 60, height: height)
            let sampled = try sampler.sample(
                plane, region, to: PixelSize(width: columns, height: rows))
            for row in 0..<rows {
                let wanted = top + (Double(row) + 0.5) * height / Double(rows) - 0.5
                let found = Double(sampled.bytes[row * sampled.stride + columns / 2])
                #expect(abs(found - wanted) < 1.6, "row \(row) of \(rows), \(region)")
            }
        }
    }

    /// The part begins where vectors want it, in a plane that does not; its last row ends before
    /// the last vector does.
    @Test func aPartThatIsAlignedByChanceIsReadToItsEndOnly() throws {
        let sampler = PlaneSampler(graphs: ZimgGraphCache(), cancellation: CancellationFlag())
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 28 + 4 * 128, alignment: 64)
        defer { memory.deallocate() }
        memory.initializeMemory(as: UInt8.self, repeating: 77)
        let plane = Plane(
            UnsafeRawBufferPointer(rebasing: memory[28...]), PixelSize(width: 128, height: 4),
            stride: 128)
        let part = plane.part(PixelRect(x: 36, y: 1, size: PixelSize(width: 92, height: 3)))
        let sampled = try sampler.sample(
            part, ActiveRegion(width: 92, height: 3), to: PixelSize(width: 40, height: 2))
        #expect((0..<40).allSatisfy { sampled.bytes[$0] == 77 })
    }
}
