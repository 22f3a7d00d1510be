public import ImageModel

/// How decoded pixels lie in their block (DESIGN §3). Rows are top to bottom, 8 bits a sample.
public struct PixelLayout: Hashable, Sendable {
    /// Samples of a pixel, next to each other.
    public enum Bands: UInt8, Hashable, Sendable, CaseIterable {
        /// One grey sample.
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
    /// Columns and rows in the block.
    public var size: PixelSize
    /// Bytes from one row to the next, at least columns × bands.
    public var stride: Int
    /// Columns that are picture, a fraction where a reduced source does not fill the last one
    /// (2725 / 4 = 681.25 of 682). Greater than `size.width` − 1, at most `size.width`.
    public var activeWidth: Double
    /// Rows that are picture, likewise.
    public var activeHeight: Double

    /// Describes interleaved pixels; the whole is active unless said otherwise.
    public init(
        bands: Bands, size: PixelSize, stride: Int, activeWidth: Double? = nil,
        activeHeight: Double? = nil
    ) {
        self.bands = bands
        self.size = size
        self.stride = stride
        self.activeWidth = activeWidth ?? Double(size.width)
        self.activeHeight = activeHeight ?? Double(size.height)
    }

    /// Bytes that the pixels take: stride × rows; `nil` where that overflows or makes no sense.
    public var byteCount: Int? {
        guard size.isPositive,
            let row = Self.product(size.width, Int(bands.rawValue)), stride >= row
        else { return nil }
        return Self.product(stride, size.height)
    }

    private static func product(_ left: Int, _ right: Int) -> Int? {
        let (value, overflow) = left.multipliedReportingOverflow(by: right)
        return overflow ? nil : value
    }
}
