import Glibc
import Model

@testable import Transforming

extension Plane {
    /// The largest difference between two corresponding samples; for 16 bits in units of 1/65,535.
    func worstDifference(from other: Plane) -> Int {
        let row = size.width * depth
        return (0..<size.height).reduce(0) { worst, y in
            let (ours, theirs) = (base + y * stride, other.base + y * other.stride)
            guard memcmp(ours, theirs, row) != 0 else { return worst }
            return (0..<size.width).reduce(worst) { worst, x in
                max(worst, abs(sample(ours, x) - sample(theirs, x)))
            }
        }
    }

    private func sample(_ row: UnsafeRawPointer, _ x: Int) -> Int {
        depth == 2
            ? Int(row.load(fromByteOffset: 2 * x, as: UInt16.self))
            : Int(row.load(fromByteOffset: x, as: UInt8.self))
    }
}
