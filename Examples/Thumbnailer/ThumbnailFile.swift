import Glibc
import Imagebus

/// Writes thumbnails to disk, atomically and under a name derived from the URL.
enum ThumbnailFile {
    /// Writes a temporary file beside the target and renames it. Returns the path.
    static func write(
        _ bytes: ImageBytes, of url: String, in directory: String
    ) throws(ImageError) -> String {
        let path = "\(directory)/\(name(of: url)).webp"
        let unfinished = "\(path).part"
        guard let file = fopen(unfinished, "we") else { throw refusal(path) }
        let written = bytes.withUnsafeBytes { fwrite($0.baseAddress, 1, $0.count, file) }
        guard fclose(file) == 0, written == bytes.count, rename(unfinished, path) == 0 else {
            throw refusal(path)
        }
        return path
    }

    /// A file name: the end of the URL for readability, and a checksum so that different URLs get
    /// different names.
    static func name(of url: String) -> String {
        let end = url.split(separator: "/").last?.prefix(40) ?? ""
        let readable = end.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" }
        return String(readable) + "-" + String(checksum(url), radix: 16)
    }

    /// 64-bit FNV-1a.
    private static func checksum(_ text: String) -> UInt64 {
        text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    private static func refusal(_ path: String) -> ImageError {
        ImageError(.internalError, "\(path) cannot be written (error \(errno))")
    }
}
