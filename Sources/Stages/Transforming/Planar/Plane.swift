import ImageModel

/// One sample of each pixel, in rows from top to bottom: memory of its own, or a part of what
/// somebody else keeps.
///
/// Memory of its own begins each row at a multiple of 64 bytes, which is what vector code wants.
final class Plane {
    let size: PixelSize
    /// Bytes of a sample: 1, or 2 in the machine's order.
    let depth: Int
    /// Bytes from one row to the next.
    let stride: Int
    let base: UnsafeRawPointer
    /// Bytes from the first sample on that may be read.
    private let count: Int
    /// Where the samples may be written; nil where they belong to somebody else.
    private let memory: UnsafeMutableRawBufferPointer?
    private let owner: AnyObject?

    static let alignment = 64

    /// Uninitialised.
    init(_ size: PixelSize, depth: Int = 1) {
        self.size = size
        self.depth = depth
        stride = (size.width * depth + Self.alignment - 1) / Self.alignment * Self.alignment
        let memory = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(1, stride * size.height), alignment: Self.alignment)
        self.memory = memory
        owner = nil
        count = memory.count
        guard let address = memory.baseAddress else {
            preconditionFailure("an allocation of at least a byte has an address")
        }
        base = UnsafeRawPointer(address)
    }

    /// Samples where they lie, `stride` bytes for each row, of the last one at least its columns;
    /// they must stay while the plane lives: `owner` can see to that.
    init(
        _ samples: UnsafeRawBufferPointer, _ size: PixelSize, stride: Int, depth: Int = 1,
        owner: AnyObject? = nil
    ) {
        guard let address = samples.baseAddress else { preconditionFailure("a plane has samples") }
        (base, count, self.size, self.stride) = (address, samples.count, size, stride)
        (self.depth, self.owner, memory) = (depth, owner, nil)
    }

    /// All samples alike.
    convenience init(_ size: PixelSize, filledWith value: UInt8) {
        self.init(size)
        memory?.initializeMemory(as: UInt8.self, repeating: value)
    }

    deinit {
        memory?.deallocate()
    }

    /// To write rows of a plane's own memory.
    var mutableBase: UnsafeMutableRawPointer {
        guard let address = memory?.baseAddress else {
            preconditionFailure("only a plane's own memory is written")
        }
        return address
    }

    /// From the first sample on; only as long as somebody holds the plane.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

    /// The same samples, rows where vector code wants them.
    var aligned: Plane { isAligned ? self : copy() }

    /// Of the last row as well, all the vectors it takes are there to be read.
    private var isAligned: Bool {
        let row = (size.width * depth + Self.alignment - 1) / Self.alignment * Self.alignment
        return UInt(bitPattern: base) % UInt(Self.alignment) == 0 && stride % Self.alignment == 0
            && count >= stride * (size.height - 1) + row
    }

    /// A part that lies in the plane: where it lies if that is aligned, else a copy.
    func part(_ rect: PixelRect) -> Plane {
        let start = rect.y * stride + rect.x * depth
        let part = Plane(
            UnsafeRawBufferPointer(rebasing: bytes[start...]), rect.size, stride: stride,
            depth: depth, owner: self)
        return part.aligned
    }

    private func copy() -> Plane {
        let copy = Plane(size, depth: depth)
        for row in 0..<size.height {
            (copy.mutableBase + row * copy.stride).copyMemory(
                from: base + row * stride, byteCount: size.width * depth)
        }
        return copy
    }
}
