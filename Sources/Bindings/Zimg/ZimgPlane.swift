internal import CZimg

/// The rule for all planes that a graph reads or writes: they begin at a multiple of 64 bytes, and
/// so does each of their rows.
///
/// zimg reads a row up to the next multiple of 64 bytes behind its width, whatever lies there, and
/// writes at most as far; nothing that it gives depends on those bytes.
public enum ZimgPlane {
    /// Of addresses and strides, in bytes.
    public static let alignment = Int(CZIMG_ALIGNMENT)

    /// The smallest stride for rows of so many bytes.
    public static func stride(rowBytes: Int) -> Int {
        (rowBytes + alignment - 1) / alignment * alignment
    }

    static func isFit(
        address: UnsafeRawPointer?, count: Int, stride: Int, rowBytes: Int, height: Int
    ) -> Bool {
        guard let address, stride > 0, stride % alignment == 0, stride >= rowBytes else {
            return false
        }
        return Int(bitPattern: address) % alignment == 0
            && count >= stride * (height - 1) + Self.stride(rowBytes: rowBytes)
    }
}

/// Where a graph reads a plane.
public struct ZimgPlaneSource {
    /// From the first sample on, at least a stride for each row but the last, and that one rounded
    /// up to 64 bytes.
    public let memory: UnsafeRawBufferPointer
    /// Bytes from one row to the next, a multiple of 64.
    public let stride: Int

    /// Memory that stays valid and unchanged while `ZimgGraph.process` runs.
    public init(memory: UnsafeRawBufferPointer, stride: Int) {
        self.memory = memory
        self.stride = stride
    }
}

/// Where a graph writes a plane.
public struct ZimgPlaneTarget {
    /// As of `ZimgPlaneSource`.
    public let memory: UnsafeMutableRawBufferPointer
    /// Bytes from one row to the next, a multiple of 64.
    public let stride: Int

    /// Memory that stays valid while `ZimgGraph.process` runs, and overlaps no source.
    public init(memory: UnsafeMutableRawBufferPointer, stride: Int) {
        self.memory = memory
        self.stride = stride
    }
}
