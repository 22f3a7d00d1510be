import ImageModel
import StackAccess

/// The list of `prefetch -f`.
enum URLList {
    /// Reads it to the end, or until Ctrl-C: one URL a line.
    static func read(_ file: String, _ interruption: Interruption) throws(ImageError) -> [String] {
        guard file != "-" else { return urls(try StandardInput.read(interruption)) }
        return urls(try InputFile.read(file, bytesMax: StandardInput.bytesMax))
    }

    /// Without empty lines and comments.
    static func urls(_ bytes: [UInt8]) -> [String] {
        bytes.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }).compactMap { line in
            let text = line.drop { isSpace($0) }
            guard let first = text.first, first != UInt8(ascii: "#"),
                let last = text.lastIndex(where: { !isSpace($0) })
            else { return nil }
            return String(decoding: text[...last], as: UTF8.self)
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
