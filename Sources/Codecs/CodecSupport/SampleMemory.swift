/// Samples in the caller's memory that a codec reads.
public struct SampleSource {
    /// The memory from the first sample to the last.
    public let memory: UnsafeRawBufferPointer
    /// The distance between rows in bytes, less than 2 GB.
    public let stride: Int

    /// Creates a source. The memory must stay valid and unchanged while a codec reads it.
    public init(memory: UnsafeRawBufferPointer, stride: Int) {
        self.memory = memory
        self.stride = stride
    }

    /// The address of the first sample.
    public func base<Sample>(_ type: Sample.Type) -> UnsafePointer<Sample>? {
        memory.baseAddress?.assumingMemoryBound(to: type)
    }

    /// Returns whether the memory has this many rows of at least one byte.
    public func holds(rowBytes: Int, height: Int) -> Bool {
        rowBytes > 0 && height > 0 && stride >= rowBytes && stride <= Int(CInt.max)
            && memory.count >= stride * (height - 1) + rowBytes
    }
}

/// Memory of the caller to which a codec writes samples.
public struct SampleTarget {
    /// The memory, starting with the first sample.
    public let memory: UnsafeMutableRawBufferPointer
    /// The distance between rows in bytes, less than 2 GB.
    public let stride: Int

    /// Creates a target. The memory must stay valid while a codec writes to it, and must not
    /// overlap a source.
    public init(memory: UnsafeMutableRawBufferPointer, stride: Int) {
        self.memory = memory
        self.stride = stride
    }

    /// The same memory for reading.
    public var source: SampleSource {
        SampleSource(memory: UnsafeRawBufferPointer(memory), stride: stride)
    }

    /// The address of the first sample.
    public func base<Sample>(_ type: Sample.Type) -> UnsafeMutablePointer<Sample>? {
        memory.baseAddress?.assumingMemoryBound(to: type)
    }
}

/// The planes of an image and their subsampling. The first values are those of `cavif_chroma`.
public enum PlaneSubsampling: UInt32, Sendable {
    /// Luma only.
    case gray
    /// Half of both columns and rows of chroma.
    case yuv420
    /// Half of the columns.
    case yuv422
    /// Full-size chroma.
    case yuv444
    /// Half of the rows.
    case yuv440

    /// The base 2 logarithm of the number of columns per chroma sample.
    public var horizontalLog2: Int { self == .yuv420 || self == .yuv422 ? 1 : 0 }
    /// The base 2 logarithm of the number of rows per chroma sample.
    public var verticalLog2: Int { self == .yuv420 || self == .yuv440 ? 1 : 0 }

    /// The number of planes, 1 or 3.
    public var planeCount: Int { self == .gray ? 1 : 3 }

    /// Returns the columns and rows of a plane. Halves of odd numbers are rounded up.
    public func size(ofPlane index: Int, _ width: Int, _ height: Int) -> (width: Int, height: Int) {
        guard index > 0 else { return (width, height) }
        let (across, down) = (horizontalLog2, verticalLog2)
        return ((width + across) >> across, (height + down) >> down)
    }

    /// Returns whether these are all planes, and each one has its size in 8-bit samples.
    public func fits(_ planes: [SampleSource], _ width: Int, _ height: Int) -> Bool {
        planes.count == planeCount
            && planes.indices.allSatisfy { index in
                let size = size(ofPlane: index, width, height)
                return planes[index].holds(rowBytes: size.width, height: size.height)
            }
    }
}

/// The position of a chroma sample relative to its luma samples. The values are those of
/// `czimg_siting` and of `cavif_picture`.
public enum ChromaSiting: UInt32, Sendable {
    /// Centered, as in JPEG and WebP, or not specified.
    case center
    /// Horizontally at the left samples, vertically centered: MPEG-2.
    case left
    /// At the top left sample: BT.2020.
    case topLeft
}

/// How much of an image its bytes contain. The values are those of `cjpeg_arrival`.
public enum ArrivedPixels: UInt32, Sendable {
    /// Nothing that could be shown.
    case nothing
    /// Some of it, or all of it if the decoder can't tell.
    case part
    /// All of it, although the end of the file may be missing.
    case whole
}
