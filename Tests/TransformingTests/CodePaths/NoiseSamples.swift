import Model
import TestKit

@testable import Transforming

/// Random samples, generated once, from which planes are cut.
struct NoiseSamples {
    private let all: [UInt8]
    private let soft: [UInt8]

    init(count: Int, _ random: inout SeededGenerator) {
        all = (0..<(count / 8)).flatMap { _ in
            withUnsafeBytes(of: random.next()) { Array($0) }
        }
        // For samples of 2 bytes, both bytes are in this range.
        soft = all.map { 64 + $0 / 2 }
    }

    /// A new plane for a geometry.
    func plane(_ geometry: RandomGeometry, _ random: inout SeededGenerator) -> Plane {
        let plane = Plane(geometry.plane, depth: geometry.depth)
        let row = geometry.plane.width * geometry.depth
        (geometry.isSoft ? soft : all).withUnsafeBytes { bytes in
            for y in 0..<geometry.plane.height {
                let start = Int.random(in: 0...(bytes.count - row), using: &random)
                UnsafeMutableRawBufferPointer(
                    start: plane.mutableBase + y * plane.stride, count: row
                ).copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[start..<(start + row)]))
            }
        }
        return plane
    }
}
