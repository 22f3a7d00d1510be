internal import Model
internal import XXHash

/// The header before the body in every file of the disk tier, from which the index can be rebuilt.
///
/// Little-endian, version 3:
///
///     0   8  magic "IMGBUS\r\n"
///     8   4  version
///     12  4  length of this header, where the body begins
///     16  8  XXH3-64 of this header with these eight bytes zero
///     24  8  length of the body
///     32  8  XXH3-64 of the body
///     40  8  created, milliseconds since 1970
///     48  8  stored, milliseconds since 1970
///     56  4  width   60 4 height   64 4 pages   68 2 format   70 1 has alpha
///     71  1  samples (`StoredSamples`)
///     72  4  length of the key
///     76  2  content type   78 2 ETag   80 2 Last-Modified   82 2 Cache-Control: lengths,
///            65535 for absent
///     84  4  for a still: frames of its source; 0 for any other image
///     88  2  length of `OriginCaching.storedText`, 65535 for absent
///     90  2  revision of the pipeline, 0 in files of versions without revisions
///     92  2  length of the tags   94 2  of the media type of the extended data: 65535 for absent
///     96  2  length of the extended data, 65535 for absent
///     98  2  1 if there is a digest, else 0
///     100 32 SHA-256 of the body, or zeros
///     132 …  key, content type, ETag, Last-Modified, Cache-Control,
///            `OriginCaching.storedText`, tags separated by spaces, media type, in UTF-8;
///            extended data
///
/// Version 1 has no `OriginCaching`: its texts begin at 88. In version 2 they begin at 92, and
/// there are no tags, no extended data and no digest.
struct BodyHeader: Hashable, Sendable {
    var key: String
    var bodyLength: Int
    var checksum: UInt64
    var created: UnixTime
    var stored: UnixTime
    var metadata: StoredMetadata

    static let magic: [UInt8] = Array("IMGBUS\r\n".utf8)
    static let version: UInt32 = 3
    /// The length of the fixed part before the texts, by version.
    static let fixedLengths: [UInt32: Int] = [1: fixedLength, 2: 92, version: writtenFixedLength]
    /// The fixed length of the shortest supported header, and that of written headers.
    static let (fixedLength, writtenFixedLength) = (88, 132)
    /// The maximum length of a header: the longest key, four of the longest origin headers, caching
    /// information, tags, and extended data.
    static let lengthMax =
        writtenFixedLength + OriginCaching.storedBytesMax + MessageLimits.keyBytesMax
        + 4 * MessageLimits.originHeaderBytesMax + StoredMetadata.tagsBytesMax
        + ExtendedData.mediaTypeBytesMax + ExtendedData.bytesMax
}

extension BodyHeader {
    private static let checksumOffset = 16
    private static let absent = UInt16.max
    private static let noDigest = [UInt8](repeating: 0, count: ContentDigest.byteCount)

    /// Returns the encoded header; `nil` if a text or the image exceeds its limit.
    func encoded() -> [UInt8]? {
        let texts = [
            metadata.contentType, metadata.etag, metadata.lastModified,
            metadata.caching?.cacheControl.field,
        ]
        guard key.utf8.count <= MessageLimits.keyBytesMax,
            texts.allSatisfy({ ($0?.utf8.count ?? 0) <= MessageLimits.originHeaderBytesMax }),
            let width = UInt32(exactly: metadata.info.size.width),
            let height = UInt32(exactly: metadata.info.size.height),
            let pages = UInt32(exactly: metadata.info.pages),
            let stillOf = UInt32(exactly: metadata.info.stillOf ?? 0)
        else { return nil }
        let caching = metadata.caching?.storedText
        let extended = metadata.extendedData
        let parts = [metadata.tagsText, extended?.mediaType]
        guard metadata.tags.count <= CacheTag.entryMax,
            metadata.tags.allSatisfy({ CacheTag.isTag($0) })
        else { return nil }
        if let extended, (try? extended.check()) == nil { return nil }
        let strings = [key] + (texts + [caching] + parts).compactMap { $0 }
        let length =
            Self.writtenFixedLength + strings.reduce(0) { $0 + $1.utf8.count }
            + (extended?.bytes.count ?? 0)
        var bytes = ByteWriter(capacity: length)
        bytes.append(Self.magic)
        bytes.append(Self.version)
        bytes.append(UInt32(length))
        bytes.append(UInt64(0))
        bytes.append(UInt64(bodyLength))
        bytes.append(checksum)
        bytes.append(created.milliseconds)
        bytes.append(stored.milliseconds)
        bytes.append(width)
        bytes.append(height)
        bytes.append(pages)
        bytes.append(metadata.info.format.rawValue)
        let samples = UInt16(StoredSamples(metadata.info).number)
        bytes.append(UInt16(metadata.info.hasAlpha ? 1 : 0) | samples << 8)
        bytes.append(UInt32(key.utf8.count))
        for text in texts { bytes.append(text.map { UInt16($0.utf8.count) } ?? Self.absent) }
        bytes.append(stillOf)
        bytes.append(caching.map { UInt16($0.utf8.count) } ?? Self.absent)
        bytes.append(metadata.revision)
        for part in parts { bytes.append(part.map { UInt16($0.utf8.count) } ?? Self.absent) }
        bytes.append(extended.map { UInt16($0.bytes.count) } ?? Self.absent)
        bytes.append(UInt16(metadata.digest == nil ? 0 : 1))
        bytes.append(metadata.digest?.bytes ?? Self.noDigest)
        for string in strings { bytes.append(Array(string.utf8)) }
        bytes.append(extended?.bytes ?? [])
        bytes.replace(XXH3.hash64(bytes.bytes.span.bytes), at: Self.checksumOffset)
        return bytes.bytes
    }

    /// Returns the length of the header that begins with these bytes (at least `fixedLength`);
    /// `nil` if they aren't a header of a supported version.
    static func length(of bytes: [UInt8]) -> Int? {
        var reader = ByteReader(bytes)
        guard (try? reader.bytes(magic.count)) == magic,
            let version = try? reader.next(UInt32.self), let fixed = fixedLengths[version],
            let length = (try? reader.next(UInt32.self)).map(Int.init),
            (fixed...lengthMax).contains(length)
        else { return nil }
        return length
    }

    /// Parses a complete header; `nil` unless it is exactly as written by `encoded`.
    init?(_ bytes: [UInt8]) {
        guard Self.length(of: bytes) == bytes.count, Self.isIntact(bytes) else { return nil }
        do throws(InvalidValue) { try self.init(intact: bytes) } catch { return nil }
    }

    private init(intact bytes: [UInt8]) throws(InvalidValue) {
        var head = ByteReader(bytes, from: Self.magic.count)
        let version = try head.next(UInt32.self)
        var reader = ByteReader(bytes, from: 24)
        let bodyLength = try valid(Int(exactly: reader.next(UInt64.self)))
        guard bodyLength <= IndexRow.bodyBytesMax else { throw InvalidValue() }
        let checksum = try reader.next(UInt64.self)
        let created = try valid(UnixTime(plausibleMilliseconds: reader.next(Int64.self)))
        let stored = try valid(UnixTime(plausibleMilliseconds: reader.next(Int64.self)))
        let sizes = try reader.next(UInt32.self, count: 3)
        let format = try valid(ImageFormat(rawValue: reader.next(Int16.self)))
        let alpha = try reader.next(UInt16.self)
        let keyLength = try reader.next(UInt32.self)
        var lengths = try reader.next(UInt16.self, count: 4)
        let stillOf = try reader.next(UInt32.self)
        let added = try version > 1 ? reader.next(UInt16.self, count: 2) : [Self.absent, 0]
        lengths.append(added[0])
        var parts = [Self.absent, Self.absent, Self.absent, 0]
        var digest = Self.noDigest
        if version > 2 {
            parts = try reader.next(UInt16.self, count: parts.count)
            digest = try reader.bytes(ContentDigest.byteCount)
        }
        guard parts[3] == 1 || (parts[3] == 0 && digest == Self.noDigest),
            PipelineRevision.range.contains(added[1])
        else { throw InvalidValue() }
        let info = try valid(
            ImageInfo(
                format: format, storedWidth: Int64(sizes[0]), height: Int64(sizes[1]),
                pages: Int64(sizes[2]), alpha: Int64(alpha & 0xFF), stillOf: Int64(stillOf),
                samples: Int64(alpha >> 8)))
        let key = try reader.text(Int(keyLength))
        var texts: [String?] = []
        for length in lengths { texts.append(try Self.header(length, from: &reader)) }
        var metadata = StoredMetadata(
            info: info, contentType: texts[0], etag: texts[1], lastModified: texts[2],
            caching: try Self.caching(texts[4], control: texts[3]))
        if parts[0] != Self.absent {
            metadata.tags = try valid(StoredMetadata.tags(inText: reader.text(Int(parts[0]))))
        }
        metadata.extendedData = try Self.extended(parts[1], parts[2], from: &reader)
        metadata.digest = parts[3] == 1 ? ContentDigest(digest) : nil
        metadata.revision = added[1]
        guard reader.isAtEnd else { throw InvalidValue() }
        self.init(
            key: key, bodyLength: bodyLength, checksum: checksum,
            created: created, stored: stored, metadata: metadata)
    }

    private static func extended(
        _ typeLength: UInt16, _ length: UInt16, from reader: inout ByteReader
    ) throws(InvalidValue) -> ExtendedData? {
        guard typeLength != absent || length != absent else { return nil }
        let type = try reader.text(Int(typeLength))
        let data = ExtendedData(try reader.bytes(Int(length)), mediaType: type)
        guard (try? data.check()) != nil else { throw InvalidValue() }
        return data
    }

    private static func caching(
        _ text: String?, control: String?
    ) throws(InvalidValue) -> OriginCaching? {
        guard let text else { return nil }
        return try valid(OriginCaching(storedText: text, control: control))
    }

    private static func header(
        _ length: UInt16, from reader: inout ByteReader
    ) throws(InvalidValue) -> String? {
        guard length != absent else { return nil }
        let text = try reader.text(Int(length))
        guard StoredMetadata.mayBeHeader(text) else { throw InvalidValue() }
        return text
    }

    private static func isIntact(_ bytes: [UInt8]) -> Bool {
        var reader = ByteReader(bytes, from: checksumOffset)
        let stated = try? reader.next(UInt64.self)
        var blank = ByteWriter(bytes)
        blank.replace(UInt64(0), at: checksumOffset)
        return stated == XXH3.hash64(blank.bytes.span.bytes)
    }
}

/// Reads the output of a `ByteWriter`; throws once the input is exhausted.
struct ByteReader {
    private let all: [UInt8]
    private var offset: Int

    init(_ bytes: [UInt8], from offset: Int = 0) {
        all = bytes
        self.offset = offset
    }

    var isAtEnd: Bool { offset == all.count }

    mutating func bytes(_ count: Int) throws(InvalidValue) -> [UInt8] {
        guard offset <= all.count, count >= 0, count <= all.count - offset else {
            throw InvalidValue()
        }
        defer { offset += count }
        return Array(all[offset..<(offset + count)])
    }

    mutating func next<Value: FixedWidthInteger>(_: Value.Type) throws(InvalidValue) -> Value {
        try bytes(MemoryLayout<Value>.size).withUnsafeBytes {
            Value(littleEndian: $0.loadUnaligned(as: Value.self))
        }
    }

    mutating func next<Value: FixedWidthInteger>(
        _: Value.Type, count: Int
    ) throws(InvalidValue) -> [Value] {
        var values: [Value] = []
        for _ in 0..<count { values.append(try next(Value.self)) }
        return values
    }

    mutating func text(_ count: Int) throws(InvalidValue) -> String {
        try valid(String(validating: bytes(count), as: UTF8.self))
    }
}

/// Appends little-endian integers and bytes.
struct ByteWriter {
    private(set) var bytes: [UInt8]

    init(capacity: Int) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func append(_ more: [UInt8]) { bytes += more }

    mutating func append(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.littleEndian) { bytes += $0 }
    }

    mutating func replace(_ value: some FixedWidthInteger, at offset: Int) {
        withUnsafeBytes(of: value.littleEndian) {
            bytes.replaceSubrange(offset..<(offset + $0.count), with: $0)
        }
    }
}
