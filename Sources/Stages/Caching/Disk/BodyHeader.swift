internal import ImageModel
internal import Messages

/// What stands before the body in every file of the disk tier, so that the index can be rebuilt
/// from the files alone.
///
/// Little-endian, version 3:
///
///     0   8  magic "IMGBUS\r\n"
///     8   4  version
///     12  4  length of this header, body begins there
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
///     84  4  of a still: frames of its source; 0 for any other image
///     88  2  length of `OriginCaching.storedText`, 65535 for absent
///     90  2  revision of the pipeline, 0 in files of those that did not count
///     92  2  length of the tags   94 2  of the media type of the extended data: 65535 for absent
///     96  2  length of the extended data, 65535 for absent
///     98  2  1 where there is a digest, else 0
///     100 32 SHA-256 of the body, or zeros
///     132 …  key, content type, ETag, Last-Modified, Cache-Control,
///            `OriginCaching.storedText`, tags with spaces between, media type, in UTF-8; extended
///            data
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
    /// The fixed part, which the texts follow, by version.
    static let fixedLengths: [UInt32: Int] = [1: fixedLength, 2: 92, version: writtenFixedLength]
    /// That of the shortest header that is read, and that of those that are written.
    static let (fixedLength, writtenFixedLength) = (88, 132)
    /// The longest header: the longest key, four of the longest origin headers, what is said of
    /// caching, the tags, and the extended data.
    static let lengthMax =
        writtenFixedLength + OriginCaching.storedBytesMax + MessageLimits.keyBytesMax
        + 4 * MessageLimits.originHeaderBytesMax + StoredMetadata.tagsBytesMax
        + ExtendedData.mediaTypeBytesMax + ExtendedData.bytesMax
}
