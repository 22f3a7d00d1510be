import Animation
import ImageModel
import Messages
import StageContract
import Vips

/// Finds the facts of a source that are wanted, which needs a few pixels at most.
struct FactReader {
    let wanted: WantedFacts
    let limits: ImageLimits
    let cancellation: CancellationFlag

    /// Throws as a decode does, of pixels only where they are needed.
    func facts(of source: SourceImage) throws(ImageError) -> ImageFacts {
        var facts = ImageFacts()
        // Of some formats to open an image is to make its pixels.
        let image = try ImageError.mapping { () throws(VipsError) in
            try source.decoder.header(source.bytes)
        }
        if wanted.kinds.contains(.header) { addHeader(of: source, image, to: &facts) }
        facts.exif = ExifFacts(image).fields(wanted.kinds)
        if wanted.kinds.contains(.animation) { facts.animation = animation(of: source) }
        guard wanted.needPixels else { return facts }
        let scale = source.scale(for: MiniaturePixels.need.decode)
        try limits.check(source, at: scale)
        try limits.checkPixelBytes(source, at: scale)
        guard !cancellation.isCancelled else { throw .cancelled }
        do throws(ImageError) {
            add(try MiniaturePixels(source, at: scale, cancellation: cancellation), to: &facts)
        } catch {
            throw error.ofPixels
        }
        return facts
    }

    private func animation(of source: SourceImage) -> AnimationFacts? {
        let file = source.bytes.bindMemory(to: UInt8.self).span
        guard let map = AnimationMap(file, framesMax: limits.pagesMax), map.frames.count > 1 else {
            return nil
        }
        return AnimationFacts(
            durations: map.frames.prefix(AnimationFacts.framesMax).map {
                UInt32(clamping: $0.duration)
            }, loops: map.loops, plays: map.plays)
    }

    private func addHeader(
        of source: SourceImage, _ image: VipsImage, to facts: inout ImageFacts
    ) {
        facts.orientation = source.statedOrientation
        facts.bitsPerSample = source.bits
        let name = image.withProfile { ProfileName.read($0) } ?? nil
        facts.profile = name.flatMap { FactText.text($0, bytesMax: ImageFacts.nameBytesMax) }
    }

    private func add(_ pixels: MiniaturePixels, to facts: inout ImageFacts) {
        if wanted.kinds.contains(.colours) {
            facts.average = AverageColour.of(pixels)
            facts.dominant = DominantColour.of(pixels)
        }
        if wanted.kinds.contains(.blurHash) {
            facts.blurHash = BlurHash(pixels, components: wanted.blurHash).text
        }
        if wanted.kinds.contains(.thumbHash) {
            facts.thumbHash = Base64Text.text(ThumbHash(pixels).bytes)
        }
    }
}

/// Text of a file as it may be passed on.
enum FactText {
    /// Valid UTF-8 without blanks around it, cut off between two characters; `nil` where
    /// nothing is left.
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

/// One entry of EXIF as libvips says it, which reads it by libexif:
/// `VALUE (VALUE IN WORDS, FORMAT, N components, M bytes)`, a number as `28/5` or `400`.
struct ExifEntry {
    /// libvips cuts texts off behind so many bytes.
    private static let textBytesMax = 254

    private let said: [UInt8]

    init(_ said: [UInt8]) { self.said = said }

    /// A text, whatever is in it: it ends where the rest begins, after as many bytes as the entry
    /// has at most. Where libvips cut off what it said, all that it said is the text.
    var text: ArraySlice<UInt8>? {
        guard let byteCount else { return said[...] }
        let longest = min(Self.textBytesMax, byteCount, said.count)
        for end in stride(from: longest, through: 0, by: -1)
        where said[end...].starts(with: " (".utf8) {
            return said[..<end]
        }
        return nil
    }

    /// Its numbers; fractions over 0 are none.
    var numbers: [Double] {
        let value = said.prefix { $0 != UInt8(ascii: "(") }
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

    /// The M at the end.
    private var byteCount: Int? {
        let end = Array(" bytes)".utf8)
        guard said.count > end.count, said.suffix(end.count).elementsEqual(end) else { return nil }
        let digits = said.dropLast(end.count).reversed().prefix { (0x30...0x39).contains($0) }
        return Int(String(decoding: digits.reversed(), as: UTF8.self))
    }
}

/// What an ICC profile calls itself: its tag `desc`, which is ASCII in profiles of version 2 and in
/// several languages in later ones (ICC.1:2001-04, 6.5.17; ICC.1:2022, 10.15). Of these the first
/// one counts, which is English as a rule.
///
/// Anyone may have written the profile: a tag that lies elsewhere than it says is none.
struct ProfileName {
    private static let headerBytes = 128
    private static let tagsMax = 100
    /// Bytes of the text that are looked at; what is told is cut off further.
    private static let textBytesMax = 512

    private let bytes: UnsafeRawBufferPointer

    /// The bytes of a text, which need not be UTF-8; `nil` where there is none.
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

    /// Type, four zeros, the length with a NUL at the end, the text.
    private func plain(_ tag: Range<Int>) -> [UInt8]? {
        guard let length = number(tag.lowerBound + 8),
            let text = part(tag.lowerBound + 12, min(length, Self.textBytesMax))
        else { return nil }
        return Array(bytes[text].prefix { $0 != 0 })
    }

    /// Type, four zeros, the number of names, the length of what says where each is: language,
    /// country, length, and offset in the tag. The names are UTF-16 with the high byte first.
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

    /// Within the profile; numbers of it are of 32 bits, so that sums do not overflow.
    private func part(_ start: Int, _ length: Int) -> Range<Int>? {
        start >= 0 && length >= 0 && start + length <= bytes.count ? start..<(start + length) : nil
    }
}
