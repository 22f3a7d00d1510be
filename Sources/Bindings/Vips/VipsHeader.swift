internal import CVipsShims

/// What is known of an image before its pixels.
public struct VipsHeader: Equatable, Sendable {
    /// The colour spaces that are told apart.
    public enum Colour: Sendable {
        case grey, grey16, rgb, rgb16, cmyk, other
    }

    /// The kinds of samples that are told apart.
    public enum Samples: Sendable {
        /// Whole numbers from 0 on, of 8 or 16 bits, all of which are used.
        case whole
        /// Numbers with a fraction.
        case real
        case other
    }

    /// Columns of one page, as stored: `orientation` not applied.
    public let width: Int
    /// Rows of one page, as stored.
    public let height: Int
    /// Samples of a pixel, alpha included.
    public let bands: Int
    /// 1 for 8 bits, 2 for 16.
    public let bytesPerBand: Int
    /// What a sample is.
    public let samples: Samples
    /// How the bands are to be read.
    public let colour: Colour
    /// Whether the last band is alpha.
    public let hasAlpha: Bool
    /// Number of pages or frames in the bytes; 1 where the format has none.
    public let pages: Int
    /// EXIF orientation, 1 to 8; nil where EXIF says nothing.
    public let orientation: Int?
    /// Whether the decoder must keep the whole image in memory (progressive JPEG, Adam7 PNG).
    public let isInterlaced: Bool
}

extension VipsHeader.Colour {
    init(_ colour: cvips_colour) {
        self =
            switch colour {
            case CVIPS_COLOUR_GREY: .grey
            case CVIPS_COLOUR_GREY16: .grey16
            case CVIPS_COLOUR_RGB: .rgb
            case CVIPS_COLOUR_RGB16: .rgb16
            case CVIPS_COLOUR_CMYK: .cmyk
            default: .other
            }
    }
}

extension VipsHeader.Colour {
    /// The signature of the color space that an ICC profile of these samples has
    /// (ICC.1:2022, table 19); `nil` for colors that mean the same on every device.
    public var profileSpace: String? {
        switch self {
        case .grey, .grey16: "GRAY"
        case .rgb, .rgb16: "RGB "
        case .cmyk: "CMYK"
        case .other: nil
        }
    }
}

extension VipsHeader.Samples {
    init(_ samples: cvips_samples) {
        self =
            switch samples {
            case CVIPS_SAMPLES_WHOLE: .whole
            case CVIPS_SAMPLES_REAL: .real
            default: .other
            }
    }
}
