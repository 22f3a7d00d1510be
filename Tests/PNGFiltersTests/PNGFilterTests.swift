import PNGFilters
import Testing

@Suite struct PNGFilterTests {
    @Test func aRowIsLeftAsItIs() {
        #expect(filtered(.none, [[1, 2, 3], [4, 5, 6]], step: 1) == [0, 1, 2, 3, 0, 4, 5, 6])
    }

    /// In the first row Sub and Paeth do the same.
    @Test func aRampIsFilteredToItsSteps() {
        let bytes = filtered(.adaptive, [[10, 20, 30, 40, 50, 60]], step: 1)
        #expect(Array(bytes[1...]) == [10, 10, 10, 10, 10, 10])
        #expect(bytes[0] == 1 || bytes[0] == 4)
    }

    @Test func aRowThatRepeatsIsFilteredToNothing() {
        let row: [UInt8] = [9, 200, 7, 90, 31, 250]
        let bytes = filtered(.adaptive, [row, row], step: 3)
        #expect(Array(bytes[8...]) == [0, 0, 0, 0, 0, 0])
        #expect(bytes[7] == 2 || bytes[7] == 4)
    }

    /// Applies a decoder's inverse filters (PNG 1.2, 6) and expects the original rows.
    @Test(arguments: [1, 2, 3, 4], [1, 2, 5, 33, 64])
    func filtersCanBeTakenBack(step: Int, pixels: Int) throws {
        var state: UInt32 = 1
        let rows = (0..<24).map { row in
            (0..<(pixels * step)).map { column in
                state = state &* 1_664_525 &+ 1_013_904_223
                let noise = UInt8(truncatingIfNeeded: state >> 24) % (row < 12 ? 255 : 9)
                return UInt8(truncatingIfNeeded: column * 3 + row * 5) &+ noise
            }
        }
        let bytes = filtered(.adaptive, rows, step: step)
        var above = [UInt8](repeating: 0, count: pixels * step)
        for (index, row) in rows.enumerated() {
            let start = index * (pixels * step + 1)
            let filter = bytes[start]
            var found: [UInt8] = []
            for column in 0..<(pixels * step) {
                let left = column >= step ? found[column - step] : 0
                let corner = column >= step ? above[column - step] : 0
                let guess = try prediction(filter, left, above[column], corner)
                found.append(bytes[start + 1 + column] &+ guess)
            }
            #expect(found == row)
            above = row
        }
        #expect(Set((0..<24).map { bytes[$0 * (pixels * step + 1)] }).isSubset(of: [1, 2, 4]))
    }

    private func prediction(
        _ filter: UInt8, _ left: UInt8, _ top: UInt8, _ corner: UInt8
    ) throws -> UInt8 {
        switch filter {
        case 1: return left
        case 2: return top
        case 4:
            let guess = Int(left) + Int(top) - Int(corner)
            let candidates = [left, top, corner].map { (abs(guess - Int($0)), $0) }
            let best = candidates.map(\.0).min()
            return try #require(candidates.first { $0.0 == best }).1
        default: throw UnknownFilter(number: filter)
        }
    }

    private struct UnknownFilter: Error {
        let number: UInt8
    }

    private func filtered(_ filter: PNGFilter, _ rows: [[UInt8]], step: Int) -> [UInt8] {
        let columns = rows[0].count
        var result = [UInt8](repeating: 0xAA, count: rows.count * (columns + 1))
        rows.flatMap { $0 }.withUnsafeBytes { source in
            result.withUnsafeMutableBytes { target in
                filter.apply(
                    to: source, above: nil, count: rows.count, columns: columns, stride: columns,
                    step: step, into: target)
            }
        }
        return result
    }
}
