/// The checksums of PNG chunks (PNG specification, 5.3 and annex D), so that decoders look beyond
/// the checksum of a corrupted chunk.
enum PNGChecksums {
    /// The file with a correct checksum after each complete chunk, up to the first chunk with an
    /// invalid length.
    static func repaired(_ file: [UInt8]) -> [UInt8] {
        var (file, place) = (file, 8)
        while place + 12 <= file.count {
            let length = file[place..<(place + 4)].reduce(0) { $0 << 8 | Int($1) }
            let end = place + 8 + length
            guard end + 4 <= file.count else { break }
            let check = check(of: file[(place + 4)..<end])
            for index in 0..<4 {
                file[end + index] = UInt8(truncatingIfNeeded: check >> (24 - 8 * UInt32(index)))
            }
            place = end + 4
        }
        return file
    }

    private static func check(of bytes: ArraySlice<UInt8>) -> UInt32 {
        ~bytes.reduce(UInt32.max) { check, byte in
            (0..<8).reduce(check ^ UInt32(byte)) { check, _ in
                check & 1 == 1 ? check >> 1 ^ 0xEDB8_8320 : check >> 1
            }
        }
    }
}
