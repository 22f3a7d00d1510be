internal import CJPEG

/// The size of one plane of samples as libjpeg writes it, known before anything is decoded.
public struct JPEGPlane: Equatable, Sendable {
    /// Columns that show something of the image, the last perhaps in part.
    public let width: Int
    /// Rows that show something of the image, the last perhaps in part.
    public let height: Int
    /// Columns that are written: whole blocks, and of luma so many that each sample of chroma has
    /// all of its own. The caller's stride is at least this.
    public let paddedWidth: Int
    /// Rows that are written, likewise. The caller's plane has at least these.
    public let paddedHeight: Int
    /// How much of the columns is image: 2725 reduced by 4 are 681.25 of 682. Who scales from
    /// the rounded number shifts the image.
    public let activeWidth: Double
    /// How much of the rows is image.
    public let activeHeight: Double

    init(_ plane: cjpeg_plane) {
        width = Int(plane.width)
        height = Int(plane.height)
        paddedWidth = Int(plane.padded_width)
        paddedHeight = Int(plane.padded_height)
        activeWidth = plane.active_width
        activeHeight = plane.active_height
    }

    /// Bytes of a plane whose rows are `stride` bytes apart.
    public func byteCount(stride: Int) -> Int { stride * paddedHeight }

    func fits(_ target: JPEGPlaneTarget) -> Bool {
        guard target.stride >= paddedWidth, target.memory.baseAddress != nil else { return false }
        return target.memory.count >= target.stride * (paddedHeight - 1) + paddedWidth
    }
}

/// Where a decoded plane goes.
public struct JPEGPlaneTarget {
    /// The caller's memory, from the first sample on.
    public let memory: UnsafeMutableRawBufferPointer
    /// Bytes from one row to the next, at least `JPEGPlane.paddedWidth`.
    public let stride: Int

    /// Memory that stays valid while `JPEGPlaneDecoder.decode` runs.
    public init(memory: UnsafeMutableRawBufferPointer, stride: Int) {
        self.memory = memory
        self.stride = stride
    }
}
