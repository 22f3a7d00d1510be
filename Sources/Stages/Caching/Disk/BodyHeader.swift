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
        guard reader.bytes(magic.count) == magic,
            let fixed = reader.next(UInt32.self).flatMap({ fixedLengths[$0] }),
            let length = reader.next(UInt32.self).map(Int.init),
            (fixed...lengthMax).contains(length)
        else { return nil }
        return length
    }

    /// Parses a complete header; `nil` unless it is exactly as written by `encoded`.
    init?(_ bytes: [UInt8]) {
        guard Self.length(of: bytes) == bytes.count, Self.isIntact(bytes) else { return nil }
        var head = ByteReader(bytes, from: Self.magic.count)
        guard let version = head.next(UInt32.self) else { return nil }
        var reader = ByteReader(bytes, from: 24)
        guard let bodyLength = reader.next(UInt64.self).flatMap({ Int(exactly: $0) }),
            bodyLength <= IndexRow.bodyBytesMax,
            let checksum = reader.next(UInt64.self),
            let created = reader.next(Int64.self).flatMap({ UnixTime(plausibleMilliseconds: $0) }),
            let stored = reader.next(Int64.self).flatMap({ UnixTime(plausibleMilliseconds: $0) }),
            let width = reader.next(UInt32.self), let height = reader.next(UInt32.self),
            let pages = reader.next(UInt32.self),
            let format = reader.next(Int16.self).flatMap({ ImageFormat(rawValue: $0) }),
            let alpha = reader.next(UInt16.self),
            let keyLength = reader.next(UInt32.self),
            let lengths = reader.next(UInt16.self, count: 4),
            let stillOf = reader.next(UInt32.self),
            let cachingLengths =
                version > 1 ? reader.next(UInt16.self, count: 2) : [Self.absent],
            let parts = version > 2 ? Parts(&reader) : Parts(),
            let info = ImageInfo(
                format: format, storedWidth: Int64(width), height: Int64(height),
                pages: Int64(pages), alpha: Int64(alpha & 0xFF), stillOf: Int64(stillOf),
                samples: Int64(alpha >> 8)),
            let key = reader.text(Int(keyLength)),
            let texts = Self.texts(lengths + cachingLengths.prefix(1), from: &reader),
            let caching = Self.caching(texts[4], control: texts[3]),
            let tags = Self.tags(parts, &reader), let extended = Self.extended(parts, &reader),
            reader.isAtEnd,
            cachingLengths.dropFirst().allSatisfy({ PipelineRevision.range.contains($0) })
        else { return nil }
        var metadata = StoredMetadata(
            info: info, contentType: texts[0], etag: texts[1], lastModified: texts[2],
            caching: caching.value)
        (metadata.tags, metadata.extendedData) = (tags, extended.value)
        metadata.digest = parts.digest
        metadata.revision = cachingLengths.dropFirst().first ?? 0
        self.init(
            key: key, bodyLength: bodyLength, checksum: checksum,
            created: created, stored: stored, metadata: metadata)
    }

    /// The fields of the fixed part that only version 3 has.
    private struct Parts {
        var tagsLength = absent
        var typeLength = absent
        var dataLength = absent
        var digest: ContentDigest?

        init() {}

        init?(_ reader: inout ByteReader) {
            guard let lengths = reader.next(UInt16.self, count: 4),
                let digest = reader.bytes(ContentDigest.byteCount), lengths[3] <= 1,
                lengths[3] == 1 || digest == noDigest
            else { return nil }
            (tagsLength, typeLength, dataLength) = (lengths[0], lengths[1], lengths[2])
            self.digest = lengths[3] == 1 ? ContentDigest(digest) : nil
        }
    }

    private static func tags(_ parts: Parts, _ reader: inout ByteReader) -> [String]? {
        guard parts.tagsLength != absent else { return [] }
        return reader.text(Int(parts.tagsLength)).flatMap { StoredMetadata.tags(inText: $0) }
    }

    private static func extended(
        _ parts: Parts, _ reader: inout ByteReader
    ) -> (value: ExtendedData?, Void)? {
        guard parts.typeLength != absent || parts.dataLength != absent else { return (nil, ()) }
        guard let type = reader.text(Int(parts.typeLength)),
            let bytes = reader.bytes(Int(parts.dataLength))
        else { return nil }
        let data = ExtendedData(bytes, mediaType: type)
        return (try? data.check()) == nil ? nil : (data, ())
    }

    private static func caching(
        _ text: String?, control: String?
    ) -> (value: OriginCaching?, Void)? {
        guard let text else { return (nil, ()) }
        return OriginCaching(storedText: text, control: control).map { ($0, ()) }
    }

    private static func texts(_ lengths: [UInt16], from reader: inout ByteReader) -> [String?]? {
        var texts: [String?] = []
        for length in lengths {
            guard length != absent else {
                texts.append(nil)
                continue
            }
            guard let text = reader.text(Int(length)), StoredMetadata.mayBeHeader(text) else {
                return nil
            }
            texts.append(text)
        }
        return texts
    }

    private static func isIntact(_ bytes: [UInt8]) -> Bool {
        var reader = ByteReader(bytes, from: checksumOffset)
        let stated = reader.next(UInt64.self)
        var blank = ByteWriter(bytes)
        blank.replace(UInt64(0), at: checksumOffset)
        return stated == XXH3.hash64(blank.bytes.span.bytes)
    }
}

/// Reads the output of a `ByteWriter`; all results are `nil` once the input is exhausted.
struct ByteReader {
    private let all: [UInt8]
    private var offset: Int

    init(_ bytes: [UInt8], from offset: Int = 0) {
        all = bytes
        self.offset = offset
    }

    var isAtEnd: Bool { offset == all.count }

    mutating func bytes(_ count: Int) -> [UInt8]? {
        guard offset <= all.count, count >= 0, count <= all.count - offset else { return nil }
        defer { offset += count }
        return Array(all[offset..<(offset + count)])
    }

    mutating func next<Value: FixedWidthInteger>(_: Value.Type) -> Value? {
        bytes(MemoryLayout<Value>.size).map { part in
            part.withUnsafeBytes { Value(littleEndian: $0.loadUnaligned(as: Value.self)) }
        }
    }

    mutating func next<Value: FixedWidthInteger>(_: Value.Type, count: Int) -> [Value]? {
        var values: [Value] = []
        for _ in 0..<count {
            guard let value = next(Value.self) else { return nil }
            values.append(value)
        }
        return values
    }

    mutating func text(_ count: Int) -> String? {
        bytes(count).flatMap { String(validating: $0, as: UTF8.self) }
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
