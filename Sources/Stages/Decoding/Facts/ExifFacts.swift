import ImageModel
import Vips

/// What EXIF of an image says, by libvips' names for its entries.
struct ExifFacts {
    private let image: VipsImage

    init(_ image: VipsImage) { self.image = image }

    /// Those fields of the kinds that the image has.
    func fields(_ kinds: FactKinds) -> [ExifField: String] {
        var fields: [ExifField: String] = [:]
        for field in ExifField.allCases where kinds.contains(field.kind) {
            fields[field] = text(of: field)
        }
        return fields
    }

    private func text(of field: ExifField) -> String? {
        switch field {
        case .make: text("exif-ifd0-Make")
        case .model: text("exif-ifd0-Model")
        case .lens: text("exif-ifd2-LensModel")
        case .dateTaken: text("exif-ifd2-DateTimeOriginal")
        case .exposureSeconds: number("exif-ifd2-ExposureTime")
        case .aperture: number("exif-ifd2-FNumber")
        case .iso: number("exif-ifd2-ISOSpeedRatings")
        case .focalLengthMillimetres: number("exif-ifd2-FocalLength")
        case .artist: text("exif-ifd0-Artist")
        case .copyright: text("exif-ifd0-Copyright")
        case .latitude: angle("exif-ifd3-GPSLatitude", negative: "S", atMost: 90)
        case .longitude: angle("exif-ifd3-GPSLongitude", negative: "W", atMost: 180)
        case .altitudeMetres: altitude
        }
    }

    private func text(_ name: String) -> String? {
        entry(name)?.text.flatMap { FactText.text($0, bytesMax: ExifField.valueBytesMax) }
    }

    private func number(_ name: String) -> String? {
        entry(name)?.numbers.first.flatMap { $0 > 0 ? Self.decimal($0) : nil }
    }

    /// Degrees, minutes and seconds; on which side is an entry of its own.
    private func angle(_ name: String, negative: String, atMost most: Double) -> String? {
        guard let numbers = entry(name)?.numbers, numbers.count == 3,
            let side = text("\(name)Ref")
        else { return nil }
        let degrees = numbers[0] + numbers[1] / 60 + numbers[2] / 3600
        guard (0...most).contains(degrees) else { return nil }
        return Self.decimal(side == negative ? -degrees : degrees)
    }

    private var altitude: String? {
        guard let metres = entry("exif-ifd3-GPSAltitude")?.numbers.first else { return nil }
        // libexif has words for 0 and 1 there: `Sea level` and this.
        let below = Array("Sea level reference".utf8)
        let isBelow = image.text("exif-ifd3-GPSAltitudeRef")?.starts(with: below) ?? false
        return Self.decimal(isBelow ? -metres : metres)
    }

    private func entry(_ name: String) -> ExifEntry? { image.text(name).map { ExifEntry($0) } }

    /// To a millionth, without a fraction where there is none.
    private static func decimal(_ value: Double) -> String? {
        guard value.magnitude < 1e9 else { return nil }
        let rounded = (value * 1_000_000).rounded() / 1_000_000
        return Int(exactly: rounded).map { "\($0)" } ?? "\(rounded)"
    }
}
