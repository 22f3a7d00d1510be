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

/// How much of an image its bytes contain. The values are those of `cjpeg_arrival`.
public enum ArrivedPixels: UInt32, Sendable {
    /// Nothing that could be shown.
    case nothing
    /// Some of it, or all of it if the decoder can't tell.
    case part
    /// All of it, although the end of the file may be missing.
    case whole
}
