import Model
import TestKit
import Testing
import Zimg

@testable import Transforming

@Suite struct PlaneSamplerTests {
    /// Samples that encode their row or column come from the requested position. zimg 3.0.4 alone
    /// is off by 8 rows if few of many rows are sampled, and skips samples if columns are enlarged
    /// while rows are reduced.
    @Test(arguments: [false, true])
    func samplesAreThoseOfTheirPlace(byColumn: Bool) throws {
        let sampler = PlaneSampler(graphs: ZimgGraphCache(), cancellation: CancellationFlag())
        var random = SeededGenerator(seed: 3)
        for _ in 0..<4000 {
            let plane = Self.ramp(Self.size(to: 200, &random), byColumn: byColumn)
            let columns = Self.part(of: plane.size.width, &random)
            let rows = Self.part(of: plane.size.height, &random)
            let region = ActiveRegion(
                left: columns.start, top: rows.start, width: columns.extent, height: rows.extent)
            let size = Self.size(to: 100, &random)
            let sampled = try sampler.sample(plane, region, to: size)
            let (part, produced, count) =
                byColumn
                ? (columns, size.width, plane.size.width) : (rows, size.height, plane.size.height)
            for index in 0..<produced {
                let place =
                    byColumn
                    ? size.height / 2 * sampled.stride + index
                    : index * sampled.stride + size.width / 2
                let step = part.extent / Double(produced)
                let wanted = part.start + (Double(index) + 0.5) * step - 0.5
                let reach = 3 * max(1, step) + 1
                // Near an edge the filter extends beyond it.
                let isInside = wanted > reach && wanted < Double(count) - 1 - reach
                let error = abs(Double(sampled.bytes[place]) - wanted)
                #expect(error < (isInside ? 2 : reach + 3), "\(region) of \(plane.size) to \(size)")
            }
        }
    }

    private static func ramp(_ size: PixelSize, byColumn: Bool) -> Plane {
        let plane = Plane(size)
        for row in 0..<size.height {
            let samples = UnsafeMutableRawBufferPointer(
                start: plane.mutableBase + row * plane.stride, count: size.width)
            for column in 0..<size.width { samples[column] = UInt8(byColumn ? column : row) }
        }
        return plane
    }

    private static func size(to sideMax: Int, _ random: inout SeededGenerator) -> PixelSize {
        PixelSize(
            width: Int.random(in: 1...sideMax, using: &random),
            height: Int.random(in: 1...sideMax, using: &random))
    }

    private static func part(
        of side: Int, _ random: inout SeededGenerator
    ) -> (start: Double, extent: Double) {
        let share = random.happens(60) ? 1 : Double.random(in: 0.01...1, using: &random)
        let extent = Double(side) * share
        return (Double.random(in: 0...(Double(side) - extent), using: &random), extent)
    }

    /// The part begins at a vector-aligned address in a plane that doesn't; its last row ends
    /// before the last vector does.
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
