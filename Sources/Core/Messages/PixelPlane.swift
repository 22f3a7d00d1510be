public import ImageModel

/// Samples in rows, of one colour or of several next to each other: a part of a block. Rows are top
/// to bottom.
public struct PixelPlane: Hashable, Sendable {
    /// Samples of a pixel, next to each other.
    public enum Bands: UInt8, Hashable, Sendable, CaseIterable {
        /// One sample: grey, or the one colour of this plane.
        case grey = 1
        /// Grey and straight alpha.
        case greyAlpha = 2
        /// Red, green, blue.
        case rgb = 3
        /// Red, green, blue and straight alpha.
        case rgba = 4
    }

    /// The samples of a pixel.
    public var bands: Bands
    /// Bytes from the start of the block to the first sample.
    public var offset: Int
    /// Columns and rows in the block.
    public var size: PixelSize
    /// Bytes from one row to the next, at least columns × bands × bytes of a sample.
    public var stride: Int
    /// Columns that are image, a fraction where a reduced source does not fill the last one
    /// (2725 / 4 = 681.25 of 682). Greater than `size.width` − 1, at most `size.width`.
    public var activeWidth: Double
    /// Rows that are image, likewise.
    public var activeHeight: Double

    /// Describes samples; the whole is active unless said otherwise.
    public init(
        bands: Bands, offset: Int = 0, size: PixelSize, stride: Int, activeWidth: Double? = nil,
        activeHeight: Double? = nil
    ) {
        self.bands = bands
        self.offset = offset
        self.size = size
        self.stride = stride
        self.activeWidth = activeWidth ?? Double(size.width)
        self.activeHeight = activeHeight ?? Double(size.height)
    }

    /// Bytes from its first sample to the end of its last row: stride × rows; `nil` where that
    /// overflows or makes no sense, or where samples of two bytes do not begin at even ones.
    public func byteCount(_ samples: SampleForm = .usual) -> Int? {
        let bytes = samples.bytes
        guard size.isPositive, offset.isMultiple(of: bytes), stride.isMultiple(of: bytes),
            let row = Self.product(size.width, Int(bands.rawValue) * bytes), stride >= row
        else { return nil }
        return Self.product(stride, size.height)
    }

    /// Bytes from the start of the block to the end of its last row.
    func end(_ samples: SampleForm) -> Int? {
        guard offset >= 0, let byteCount = byteCount(samples) else { return nil }
        let (end, overflow) = offset.addingReportingOverflow(byteCount)
        return overflow ? nil : end
    }

    /// Whether the active part is the image but for a fraction of the last column and row.
    public var isActive: Bool {
        Self.reaches(size.width, activeWidth) && Self.reaches(size.height, activeHeight)
    }

    /// Whether all of it is image.
    var isWhole: Bool {
        activeWidth == Double(size.width) && activeHeight == Double(size.height)
    }

    private static func reaches(_ side: Int, _ active: Double) -> Bool {
        active > Double(side) - 1 && active <= Double(side)
    }

    private static func product(_ left: Int, _ right: Int) -> Int? {
        let (value, overflow) = left.multipliedReportingOverflow(by: right)
        return overflow ? nil : value
    }
}
