/// What of EXIF is told, by its name on the wire and in JSON. Each value is a text; numbers are
/// decimal, with a point.
public enum ExifField: String, Hashable, Sendable, CaseIterable {
    /// Who made the camera.
    case make
    /// Which camera.
    case model
    /// Which lens.
    case lens
    /// When the image was taken, as the camera wrote it: `2022:07:04 21:17:16`.
    case dateTaken
    /// How long, in seconds.
    case exposureSeconds
    /// The number of the aperture: 5.6 for f/5.6.
    case aperture
    /// The sensitivity, by ISO.
    case iso
    /// The focal length.
    case focalLengthMillimetres
    /// Who took it.
    case artist
    /// Whose it is.
    case copyright
    /// Degrees to the north, negative to the south.
    case latitude
    /// Degrees to the east, negative to the west.
    case longitude
    /// Metres above the sea, negative below.
    case altitudeMetres

    /// Bytes of a value at most; a longer text is cut off between two characters.
    public static let valueBytesMax = 128

    /// With which facts it comes.
    package var kind: FactKinds {
        switch self {
        case .latitude, .longitude, .altitudeMetres: .gps
        default: .exif
        }
    }
}
