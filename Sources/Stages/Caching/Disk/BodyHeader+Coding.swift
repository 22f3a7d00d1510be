internal import ImageModel
internal import Messages
internal import XXHash

extension BodyHeader {
    private static let checksumOffset = 16
    private static let absent = UInt16.max
    private static let noDigest = [UInt8](repeating: 0, count: ContentDigest.byteCount)

    /// The bytes as they stand in the file, `nil` where a text or the image is over its limit.
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

    /// How long the header is that begins with these bytes (`fixedLength` of them at least), `nil`
    /// where they are no header of this version.
    static func length(of bytes: [UInt8]) -> Int? {
        var reader = ByteReader(bytes)
        guard reader.bytes(magic.count) == magic,
            let fixed = reader.next(UInt32.self).flatMap({ fixedLengths[$0] }),
            let length = reader.next(UInt32.self).map(Int.init),
            (fixed...lengthMax).contains(length)
        else { return nil }
        return length
    }

    /// Reads a whole header; `nil` unless it is exactly as `encoded` writes it.
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

    /// What version 3 says in its fixed part that others do not.
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
        let said = reader.next(UInt64.self)
        var blank = ByteWriter(bytes)
        blank.replace(UInt64(0), at: checksumOffset)
        return said == XXH3.hash64(blank.bytes.span.bytes)
    }
}
