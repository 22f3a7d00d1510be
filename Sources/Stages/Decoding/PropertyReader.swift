import Model
import Vips

/// Determines the requested properties of a source, which needs at most a few pixels.
struct PropertyReader {
    let wanted: RequestedProperties
    let limits: ImageLimits
    let cancellation: CancellationFlag

    /// Throws like a decode; pixel errors only if pixels are needed.
    func properties(of source: SourceImage) throws -> ImageProperties {
        var properties = ImageProperties()
        // For some formats, opening an image decodes its pixels.
        let image = try source.openHeader()
        if wanted.kinds.contains(.header) { addHeader(of: source, image, to: &properties) }
        properties.exif = ExifProperties(image).fields(wanted.kinds)
        if wanted.kinds.contains(.animation) { properties.animation = animation(of: source) }
        guard wanted.needPixels else { return properties }
        let scale = source.scale(for: MiniaturePixels.need)
        try limits.check(source, at: scale)
        try limits.checkPixelBytes(source, at: scale)
        guard !cancellation.isCancelled else { throw ImageError.cancelled }
        do {
            add(try MiniaturePixels(source, at: scale, cancellation: cancellation), to: &properties)
        } catch {
            throw ImageError(decoding: error).asDamagedPixels
        }
        return properties
    }

    private func animation(of source: SourceImage) -> AnimationProperties? {
        let file = source.bytes.bindMemory(to: UInt8.self).span
        guard let map = AnimationMap(file, framesMax: limits.pagesMax), map.frames.count > 1 else {
            return nil
        }
        return AnimationProperties(
            durations: map.frames.prefix(AnimationProperties.framesMax).map {
                UInt32(clamping: $0.duration)
            }, loops: map.loops, plays: map.plays)
    }

    private func addHeader(
        of source: SourceImage, _ image: VipsImage, to properties: inout ImageProperties
    ) {
        properties.orientation = source.statedOrientation
        properties.bitsPerSample = source.bits
        let name = image.withProfile { ProfileName.read($0) } ?? nil
        properties.profile = name.flatMap {
            PropertyText.text($0, bytesMax: ImageProperties.nameBytesMax)
        }
    }

    private func add(_ pixels: MiniaturePixels, to properties: inout ImageProperties) {
        if wanted.kinds.contains(.colors) {
            properties.average = AverageColor.of(pixels)
            properties.dominant = DominantColor.of(pixels)
        }
        if wanted.kinds.contains(.blurHash) {
            properties.blurHash = BlurHash(pixels, components: wanted.blurHash).text
        }
        if wanted.kinds.contains(.thumbHash) {
            properties.thumbHash = Base64Text.text(ThumbHash(pixels).bytes)
        }
    }
}

/// Sanitizes text from a file.
enum PropertyText {
    /// Returns valid UTF-8 without surrounding whitespace, truncated between two characters; `nil`
    /// if nothing is left.
    static func text(_ bytes: some Collection<UInt8>, bytesMax: Int) -> String? {
        guard let whole = String(validating: bytes, as: UTF8.self) else { return nil }
        var scalars = Substring(whole).unicodeScalars
        while let first = scalars.first, isBlank(first) { scalars.removeFirst() }
        while let last = scalars.last, isBlank(last) { scalars.removeLast() }
        var (text, count) = (String(), 0)
        for character in Substring(scalars) {
            count += character.utf8.count
            guard count <= bytesMax else { break }
            text.append(character)
        }
        return text.isEmpty ? nil : text
    }

    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value <= 0x20
    }
}

/// The EXIF data of an image, accessed by libvips' names.
struct ExifProperties {
    private let image: VipsImage

    init(_ image: VipsImage) { self.image = image }

    /// Returns the available fields of the requested kinds.
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
        entry(name)?.text.flatMap { PropertyText.text($0, bytesMax: ExifField.valueBytesMax) }
    }

    private func number(_ name: String) -> String? {
        entry(name)?.numbers.first.flatMap { $0 > 0 ? Self.decimal($0) : nil }
    }

    /// Converts degrees, minutes and seconds; a separate entry has the hemisphere.
    private func angle(_ name: String, negative: String, atMost most: Double) -> String? {
        guard let numbers = entry(name)?.numbers, numbers.count == 3,
            let side = text("\(name)Ref")
        else { return nil }
        let degrees = numbers[0] + numbers[1] / 60 + numbers[2] / 3600
        guard (0...most).contains(degrees) else { return nil }
        return Self.decimal(side == negative ? -degrees : degrees)
    }

    private var altitude: String? {
        guard let meters = entry("exif-ifd3-GPSAltitude")?.numbers.first else { return nil }
        // libexif represents 0 and 1 as words: `Sea level` and this one.
        let below = Array("Sea level reference".utf8)
        let isBelow = image.text("exif-ifd3-GPSAltitudeRef")?.starts(with: below) ?? false
        return Self.decimal(isBelow ? -meters : meters)
    }

    private func entry(_ name: String) -> ExifEntry? { image.text(name).map { ExifEntry($0) } }

    /// Formats a number to a millionth, without a fraction if it is an integer.
    private static func decimal(_ value: Double) -> String? {
        guard value.magnitude < 1e9 else { return nil }
        let rounded = (value * 1_000_000).rounded() / 1_000_000
        return Int(exactly: rounded).map { "\($0)" } ?? "\(rounded)"
    }
}

/// An EXIF entry as formatted by libvips using libexif: `VALUE (VALUE IN WORDS, FORMAT, N
/// components, M bytes)`, with numbers such as `28/5` or `400`.
struct ExifEntry {
    /// The length in bytes at which libvips truncates texts.
    private static let textBytesMax = 254

    private let raw: [UInt8]

    init(_ raw: [UInt8]) { self.raw = raw }

    /// The text, which may contain any characters: it ends at the suffix, and has at most the
    /// entry's byte count. If libvips truncated its output, all of that is the text.
    var text: ArraySlice<UInt8>? {
        guard let byteCount else { return raw[...] }
        let longest = min(Self.textBytesMax, byteCount, raw.count)
        for end in stride(from: longest, through: 0, by: -1)
        where raw[end...].starts(with: " (".utf8) {
            return raw[..<end]
        }
        return nil
    }

    /// The numbers; fractions over 0 are omitted.
    var numbers: [Double] {
        let value = raw.prefix { $0 != UInt8(ascii: "(") }
        return value.split(separator: UInt8(ascii: " ")).compactMap { Self.number($0) }
    }

    private static func number(_ text: ArraySlice<UInt8>) -> Double? {
        let parts = text.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { Double(String(decoding: $0, as: UTF8.self)) }
        guard let above = parts[0], above.isFinite else { return nil }
        guard parts.count > 1 else { return above }
        guard parts.count == 2, let below = parts[1], below != 0, below.isFinite else { return nil }
        return above / below
    }

    /// The byte count M at the end.
    private var byteCount: Int? {
        let end = Array(" bytes)".utf8)
        guard raw.count > end.count, raw.suffix(end.count).elementsEqual(end) else { return nil }
        let digits = raw.dropLast(end.count).reversed().prefix { (0x30...0x39).contains($0) }
        return Int(String(decoding: digits.reversed(), as: UTF8.self))
    }
}

/// The name of an ICC profile: its `desc` tag, which is ASCII in version 2 and multilingual in
/// later versions (ICC.1:2001-04, 6.5.17; ICC.1:2022, 10.15). The first language is used, which is
/// usually English.
///
/// The profile is untrusted: a tag outside of it is ignored.
struct ProfileName {
    private static let headerBytes = 128
    private static let tagsMax = 100
    /// The maximum number of bytes to read; the result is truncated further.
    private static let textBytesMax = 512

    private let bytes: UnsafeRawBufferPointer

    /// Returns the bytes of the name, which may be invalid UTF-8; `nil` if there is none.
    static func read(_ profile: UnsafeRawBufferPointer) -> [UInt8]? {
        let profile = ProfileName(bytes: profile)
        guard let tag = profile.tag("desc") else { return nil }
        return profile.isType("desc", at: tag.lowerBound)
            ? profile.plain(tag)
            : profile.isType("mluc", at: tag.lowerBound)
                ? profile.inLanguages(tag) : nil
    }

    private func tag(_ name: String) -> Range<Int>? {
        guard let count = number(Self.headerBytes) else { return nil }
        for index in 0..<min(count, Self.tagsMax) {
            let entry = Self.headerBytes + 4 + 12 * index
            guard isType(name, at: entry), let start = number(entry + 4),
                let length = number(entry + 8)
            else { continue }
            return part(start, length)
        }
        return nil
    }

    /// Type, four zeros, the length including a NUL, the text.
    private func plain(_ tag: Range<Int>) -> [UInt8]? {
        guard let length = number(tag.lowerBound + 8),
            let text = part(tag.lowerBound + 12, min(length, Self.textBytesMax))
        else { return nil }
        return Array(bytes[text].prefix { $0 != 0 })
    }

    /// Type, four zeros, the number of names, the size of a record, and for each name a record with
    /// language, country, length and offset in the tag. Names are big-endian UTF-16.
    private func inLanguages(_ tag: Range<Int>) -> [UInt8]? {
        guard let count = number(tag.lowerBound + 8), count > 0,
            let length = number(tag.lowerBound + 20), let offset = number(tag.lowerBound + 24),
            let text = part(tag.lowerBound + offset, min(length, Self.textBytesMax))
        else { return nil }
        let units = stride(from: text.lowerBound, to: text.upperBound - 1, by: 2).map { place in
            UInt16(bytes[place]) << 8 | UInt16(bytes[place + 1])
        }
        return Array(String(decoding: units.prefix { $0 != 0 }, as: UTF16.self).utf8)
    }

    private func isType(_ name: String, at place: Int) -> Bool {
        part(place, 4).map { bytes[$0].elementsEqual(name.utf8) } ?? false
    }

    private func number(_ place: Int) -> Int? {
        part(place, 4).map { bytes[$0].reduce(0) { $0 << 8 | Int($1) } }
    }

    /// Returns a range within the profile; the numbers have 32 bits, so sums can't overflow.
    private func part(_ start: Int, _ length: Int) -> Range<Int>? {
        start >= 0 && length >= 0 && start + length <= bytes.count ? start..<(start + length) : nil
    }
}
