internal import CJPEG

/// What a JPEG says of itself before its pixels.
public struct JPEGHeader: Equatable, Sendable {
    /// The colour spaces that are told apart.
    public enum Colour: Sendable {
        case grey, yCbCr
        /// RGB, CMYK, YCCK or unknown: no planes are made of these.
        case other
    }

    /// The sampling factors of one component, 1 to 4, as the file has them.
    public struct Sampling: Equatable, Sendable {
        /// Samples of this component in a row of an MCU, in blocks.
        public let horizontal: Int
        /// The same in a column.
        public let vertical: Int
    }

    /// Columns, as stored: an orientation is not applied.
    public let width: Int
    /// Rows, as stored.
    public let height: Int
    /// Bits of a sample: 8.
    public let precision: Int
    /// The colour space of the file.
    public let colour: Colour
    /// One for each component, 1 to 10 of them.
    public let sampling: [Sampling]
    /// Whether scans refine what earlier scans gave.
    public let isProgressive: Bool
    /// Whether arithmetic coding takes the place of Huffman's.
    public let isArithmetic: Bool
    /// Whether pixels can only be made once the whole file was read: progressive, or not
    /// interleaved.
    public let hasManyScans: Bool
    /// Whether there is an ICC profile.
    public let hasProfile: Bool
    /// Memory that libjpeg holds for the coefficients of a file with many scans; 0 for one with
    /// one scan.
    public let coefficientBytes: Int

    /// Reads the header of `bytes` and nothing behind it.
    ///
    /// - Throws: `corrupt`, `unsupported` (lossless, 12 bits), `outOfMemory`.
    public init(_ bytes: UnsafeRawBufferPointer) throws(JPEGError) {
        self = try JPEGHandle(bytes, limits: .standard).header
    }
}

extension JPEGHeader {
    init(_ header: cjpeg_header, sampling: (Int) -> cjpeg_sampling) {
        width = Int(header.width)
        height = Int(header.height)
        precision = Int(header.precision)
        colour = Colour(header.colour)
        self.sampling = (0..<Int(header.components)).map {
            let sampling = sampling($0)
            return Sampling(
                horizontal: Int(sampling.horizontal), vertical: Int(sampling.vertical))
        }
        isProgressive = header.is_progressive != 0
        isArithmetic = header.is_arithmetic != 0
        hasManyScans = header.has_many_scans != 0
        hasProfile = header.has_profile != 0
        coefficientBytes = header.coefficient_bytes
    }
}

extension JPEGHeader.Colour {
    fileprivate init(_ colour: cjpeg_colour) {
        self =
            switch colour {
            case CJPEG_COLOUR_GREY: .grey
            case CJPEG_COLOUR_YCBCR: .yCbCr
            default: .other
            }
    }
}
