internal import Model
internal import SQLite

/// One entry of the index, without its bytes.
struct IndexRow: Hashable, Sendable {
    /// Identifies the entry and its file.
    var number: Int64
    var bodyLength: Int
    var checksum: UInt64
    /// The offset of the body in its file; `nil` if it is stored in the index.
    var fileOffset: Int?
    var created: UnixTime
    var stored: UnixTime
    var accessed: UnixTime
    var metadata: StoredMetadata

    /// Returns the relevant date.
    func date(_ type: ExpireType) -> UnixTime {
        switch type {
        case .access: accessed
        case .modification, .change: stored
        case .creation: created
        }
    }
}

/// An entry to be removed, with the data needed for that.
struct IndexVictim: Hashable, Sendable {
    var number: Int64
    var hasFile: Bool
    /// The space freed by its removal, in bytes.
    var charge: Int
}

/// The space used by the disk tier.
package struct DiskUsage: Hashable, Sendable {
    package var entries: Int
    /// The size of the entries in bytes: bodies and headers rounded up to blocks, and rows of the
    /// index.
    package var bytes: Int
    /// The size of everything else in bytes: the index's log, and set-aside indexes.
    package var overhead = 0

    /// The total size in bytes.
    package var total: Int { bytes + overhead }
}

/// The result of looking a key up in the index.
enum IndexFinding {
    case nothing
    case entry(IndexRow)
    /// An invalid row with this number.
    case damaged(Int64)
}

extension IndexRow {
    /// The columns of `entries` read by `init`, in order, followed by `partNames` and the number.
    static let columnNames = [
        "body_length", "checksum", "file_offset", "created", "stored", "accessed", "format",
        "width", "height", "pages", "has_alpha", "content_type", "etag", "last_modified",
        "cache_control", "still_of", "samples", "expiry",
    ]
    static let columns = columnNames.joined(separator: ", ")
    /// The columns of `extras` and `tags` read by `init`, in order.
    static let partNames = ["digest", "media_type", "extended", "tags"]
    /// The tags of an entry in one text.
    static let tagsColumn =
        "(SELECT group_concat(tag, ' ') FROM tags WHERE tags.number = entries.number) AS tags"
    /// The number of columns before the entry's number.
    static let columnCount = columnNames.count + partNames.count

    /// The maximum number of an entry or file, far from overflow.
    static let numberMax: Int64 = 1 << 62
    /// An index or file with a larger number is rejected, because no cache stores that many
    /// entries.
    static let foundNumberMax: Int64 = 1 << 61
    /// The maximum length of a body, so that sums of lengths can't overflow.
    static let bodyBytesMax: Int64 = 1 << 48

    /// Parses a row; `nil` if a column has a value that this program never writes.
    init?(_ row: borrowing Row) {
        guard let number = row.storedInt64(Self.columnCount), (1...Self.numberMax).contains(number),
            let bodyLength = row.storedInt64(0), (0...Self.bodyBytesMax).contains(bodyLength),
            let checksum = row.storedInt64(1), let metadata = try? Self.metadata(row),
            let created = Self.time(row, 3), let stored = Self.time(row, 4),
            let accessed = Self.time(row, 5)
        else { return nil }
        var fileOffset: Int?
        if !row.isNull(2) {
            guard let offset = row.storedInt64(2).flatMap({ Int(exactly: $0) }),
                (BodyHeader.fixedLength...BodyHeader.lengthMax).contains(offset)
            else { return nil }
            fileOffset = offset
        }
        guard fileOffset != nil || bodyLength <= DiskTier.inlineBytesMax else { return nil }
        self.init(
            number: number, bodyLength: Int(bodyLength), checksum: UInt64(bitPattern: checksum),
            fileOffset: fileOffset, created: created, stored: stored, accessed: accessed,
            metadata: metadata)
    }

    private static func time(_ row: borrowing Row, _ column: Int) -> UnixTime? {
        row.storedInt64(column).flatMap { UnixTime(plausibleMilliseconds: $0) }
    }

    private static func metadata(_ row: borrowing Row) throws(InvalidValue) -> StoredMetadata {
        guard let format = row.storedInt64(6).flatMap({ Int16(exactly: $0) }),
            let format = ImageFormat(rawValue: format),
            let width = row.storedInt64(7), let height = row.storedInt64(8),
            let pages = row.storedInt64(9), let alpha = row.storedInt64(10),
            let stillOf = row.storedInt64(15),
            let (samples, revision) = row.storedInt64(16).flatMap({ StoredSamples.parts(of: $0) }),
            let info = ImageInfo(
                format: format, storedWidth: width, height: height, pages: pages, alpha: alpha,
                stillOf: stillOf, samples: samples)
        else { throw InvalidValue() }
        let control = try header(row, 14)
        let caching = try optional(row, 17) { row in
            row.storedText(17).flatMap { OriginCaching(storedText: $0, control: control) }
        }
        var metadata = StoredMetadata(
            info: info, contentType: try header(row, 11), etag: try header(row, 12),
            lastModified: try header(row, 13), caching: caching)
        metadata.digest = try optional(row, 18) { row in
            row.isBlob(18) ? ContentDigest(bytes(row, 18)) : nil
        }
        metadata.extendedData = try extended(row, 19)
        metadata.tags =
            try optional(row, 21) { row in
                row.storedText(21).flatMap { StoredMetadata.tags(inText: $0) }
            } ?? []
        metadata.revision = revision
        return metadata
    }

    /// Returns the value of a column, or `nil` for NULL; throws if `value` returns `nil`.
    private static func optional<Value>(
        _ row: borrowing Row, _ column: Int, _ value: (borrowing Row) -> Value?
    ) throws(InvalidValue) -> Value? {
        if row.isNull(column) { return nil }
        return try valid(value(row))
    }

    /// Returns an origin's text, if there is one.
    private static func header(
        _ row: borrowing Row, _ column: Int
    ) throws(InvalidValue) -> String? {
        try optional(row, column) { row in
            row.storedText(column).flatMap { StoredMetadata.mayBeHeader($0) ? $0 : nil }
        }
    }

    /// Returns a media type and bytes, if there are both or neither.
    private static func extended(
        _ row: borrowing Row, _ column: Int
    ) throws(InvalidValue) -> ExtendedData? {
        if row.isNull(column), row.isNull(column + 1) { return nil }
        guard let type = row.storedText(column), ExtendedData.isMediaType(type),
            row.isBlob(column + 1), (1...ExtendedData.bytesMax).contains(row.blobLength(column + 1))
        else { throw InvalidValue() }
        return ExtendedData(bytes(row, column + 1), mediaType: type)
    }

    private static func bytes(_ row: borrowing Row, _ column: Int) -> [UInt8] {
        row.blob(column).withUnsafeBytes { Array($0) }
    }
}

/// A stored value is one that this program never writes.
struct InvalidValue: Error {}

/// Returns a stored value; throws if it is `nil`, because this program never writes such a value.
func valid<Value>(_ value: Value?) throws(InvalidValue) -> Value {
    guard let value else { throw InvalidValue() }
    return value
}

extension ImageInfo {
    /// Creates an image from stored properties; `nil` if they are invalid. `stillOf` is 0 if it
    /// isn't a still.
    init?(
        format: ImageFormat, storedWidth: Int64, height: Int64, pages: Int64, alpha: Int64,
        stillOf: Int64, samples: Int64
    ) {
        guard UInt32(exactly: storedWidth) != nil, UInt32(exactly: height) != nil,
            let pages = UInt32(exactly: pages), pages > 0, (0...1).contains(alpha),
            let frames = UInt32(exactly: stillOf), frames != 1,
            let samples = StoredSamples(samples)
        else { return nil }
        self.init(
            format: format, size: PixelSize(width: Int(storedWidth), height: Int(height)),
            pages: Int(pages), hasAlpha: alpha == 1, stillOf: frames == 0 ? nil : Int(frames),
            bits: samples.bits, isHDR: samples.isHDR)
    }
}

extension StoredMetadata {
    /// Returns whether a message can carry this text as a header of the origin.
    static func mayBeHeader(_ text: String) -> Bool {
        text.utf8.count <= MessageLimits.originHeaderBytesMax && !text.utf8.contains(0)
    }
}

extension StoredMetadata {
    /// The tags in their stored form, one text; `nil` if there are none.
    var tagsText: String? { tags.isEmpty ? nil : tags.joined(separator: " ") }

    /// Parses stored tags; `nil` if they are invalid or too many.
    static func tags(inText text: String) -> [String]? {
        guard text.utf8.count <= tagsBytesMax else { return nil }
        let tags = text.split(separator: " ", omittingEmptySubsequences: false).map { String($0) }
        guard tags.count <= CacheTag.entryMax, tags.allSatisfy({ CacheTag.isTag($0) }) else {
            return nil
        }
        return tags
    }

    /// The maximum length of stored tags.
    static let tagsBytesMax = CacheTag.entryMax * (CacheTag.bytesMax + 1)

    /// The approximate size of tags and extended data in bytes, in addition to the rest of an
    /// entry. A tag is stored in two indexes.
    var partBytes: Int {
        let tagBytes = tags.reduce(0) { $0 + 2 * ($1.utf8.count + 16) }
        return tagBytes + (extendedData.map { $0.bytes.count + $0.mediaType.utf8.count } ?? 0)
    }
}

extension IndexVictim {
    /// The maximum charge of an entry in bytes, so that sums of charges can't overflow.
    private static let chargeMax: Int64 = 1 << 50

    /// Parses number, presence of a file, and charge; `nil` for invalid values.
    init?(_ row: borrowing Row) {
        guard let charge = row.storedInt64(2), (0...Self.chargeMax).contains(charge) else {
            return nil
        }
        self.init(number: row.int64(0), hasFile: row.int64(1) != 0, charge: Int(charge))
    }
}

extension ScannedRow {
    /// The columns that it reads, in order.
    static let columns = [
        "entries.number", "file_offset IS NOT NULL", "charge", "key", "body_length", "stored",
        "accessed", "format", "width", "height",
    ].joined(separator: ", ")

    /// Parses a row of a scan; `nil` if a column has a value that this program never writes.
    init?(_ row: borrowing Row) {
        guard let victim = IndexVictim(row), let key = row.storedText(3),
            let length = row.storedInt64(4).flatMap({ UInt64(exactly: $0) }),
            let stored = row.storedInt64(5).flatMap({ UnixTime(plausibleMilliseconds: $0) }),
            let accessed = row.storedInt64(6).flatMap({ UnixTime(plausibleMilliseconds: $0) }),
            let number = row.storedInt64(7).flatMap({ Int16(exactly: $0) }),
            let format = ImageFormat(rawValue: number),
            let width = row.storedInt64(8).flatMap({ UInt32(exactly: $0) }),
            let height = row.storedInt64(9).flatMap({ UInt32(exactly: $0) })
        else { return nil }
        self.init(
            victim: victim, key: key, stored: stored,
            description: EntryDescription(
                key: key, tier: .disk, bytes: length, format: format,
                size: PixelSize(width: Int(width), height: Int(height)),
                storedMilliseconds: UInt64(stored.milliseconds),
                accessedMilliseconds: UInt64(accessed.milliseconds)))
    }
}

extension DiskUsage {
    /// Creates a usage from stored totals; `nil` for invalid values.
    init?(entries: Int64?, bytes: Int64?) {
        guard let entries, let bytes, (0...IndexRow.numberMax).contains(entries),
            (0...(1 << 60)).contains(bytes), entries <= bytes / Int64(DiskTier.rowCharge)
        else { return nil }
        self.init(entries: Int(entries), bytes: Int(bytes))
    }
}

/// The sample format of an image in one byte: the bit depth, 0 for the usual 8, and the highest bit
/// for high dynamic range.
struct StoredSamples {
    let bits: Int
    let isHDR: Bool

    private static let highRange = 0x80

    init(_ info: ImageInfo) { (bits, isHDR) = (info.bits, info.isHDR) }

    /// Returns `nil` for an invalid number.
    init?(_ number: Int64) {
        guard (0...0xFF).contains(number) else { return nil }
        let bits = Int(number) & ~Self.highRange
        guard bits == 0 || ImageInfo.bitsRange.contains(bits) else { return nil }
        self.bits = bits == 0 ? 8 : bits
        isHDR = Int(number) & Self.highRange != 0
    }

    /// Splits a column into the samples in its lowest byte and the revision of the pipeline above.
    /// Returns `nil` for a value that this program never writes.
    static func parts(of column: Int64) -> (samples: Int64, revision: UInt16)? {
        guard column >= 0, let revision = UInt16(exactly: column >> 8),
            PipelineRevision.range.contains(revision)
        else { return nil }
        return (column & 0xFF, revision)
    }

    /// Returns the column with both.
    func column(_ revision: UInt16) -> Int64 { Int64(number) | Int64(revision) << 8 }

    var number: UInt8 {
        UInt8((bits == 8 ? 0 : bits) | (isHDR ? Self.highRange : 0))
    }
}

/// The stored form of an origin's caching information besides `Cache-Control`: the time at which
/// the age of the response was 0, in milliseconds since 1970, the lifetime in seconds according to
/// `Expires`, and a star for `Vary: *`, as in `1700000000000 60` and `1700000000000 - *`.
extension OriginCaching {
    var storedText: String {
        let lifetime = age.expiresInSeconds.map { String($0) } ?? "-"
        return "\(age.bornMilliseconds) \(lifetime)" + (variesOnEverything ? " *" : "")
    }

    /// Parses the text stored alongside this `Cache-Control`; `nil` if no version ever wrote it.
    init?(storedText text: String, control field: String?) {
        guard text.utf8.count <= Self.storedBytesMax else { return nil }
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        if words.count == 4 {
            self.init(times: words.compactMap { Int64($0) }, field)
            return
        }
        guard words.count == 2 || (words.count == 3 && words[2] == "*"),
            let born = Int64(words[0]), HTTPExpiry.bornRange.contains(born)
        else { return nil }
        let lifetime = Int64(words[1])
        guard lifetime.map((0...DeltaSeconds.most).contains) ?? (words[1] == "-") else {
            return nil
        }
        self.init(
            CacheControl(field),
            ResponseAge(bornMilliseconds: born, expiresInSeconds: lifetime),
            variesOnEverything: words.count == 3)
        guard storedText == text else { return nil }
    }

    /// Parses the form of earlier versions, which stored times computed for one cache, in
    /// milliseconds: when its age was 0, how long it was fresh, and how long after that it could be
    /// served during revalidation and after errors.
    private init?(times: [Int64], _ field: String?) {
        guard times.count == 4, HTTPExpiry.bornRange.contains(times[0]),
            times[1...].allSatisfy(HTTPExpiry.timeRange.contains)
        else { return nil }
        var control = CacheControl(field)
        if control.field == nil, times[1...].contains(where: { $0 > 0 }) {
            control.maxAge = times[1] / 1_000
            control.staleWhileRevalidate = times[2] / 1_000
            control.staleIfError = times[3] / 1_000
        }
        self.init(control, ResponseAge(bornMilliseconds: times[0]))
    }

    /// The maximum length of a stored text.
    static let storedBytesMax = 80
}
